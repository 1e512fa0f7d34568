// What the page asks the proxy for: its own data, and nothing else. The key stays in this tab.

const KEY = "inspector-key";
const PAUSE = 1000;
const LONGEST_PAUSE = 10_000;
const PATIENCE = 15_000;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (value) => sessionStorage.setItem(KEY, value),
};

export async function ask(path, parameters = {}) {
  const headers = key.get() ? { Authorization: `Bearer ${key.get()}` } : {};
  const query = new URLSearchParams(parameters);
  const answer = await fetch(`/inspector/data/${path}?${query}`, {
    headers,
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE),  // a worker that stands still holds its connections
  });
  const body = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, body?.error?.message ?? `The proxy answered ${answer.status}.`);
  return body;
}

/** A part of the page that draws how things stand. It asks when there may be news, but not more often than this. */
const STANDING_PAUSE = 2000;

export class Standing {
  _asked = 0;

  open() {
    this.update();
  }

  async update() {
    if (Date.now() - this._asked < STANDING_PAUSE) return;
    this._asked = Date.now();
    try {
      const { workers, shared } = await ask("standing");
      this._draw(Object.values(workers).filter(Boolean), shared);
    } catch {
      // the list says that the proxy does not answer
    }
  }
}

/** The requests that are known here, kept up to date: `changed` is called when there is news, `failed` when there is
 * none to be had. */
export class Requests {
  constructor(changed, failed) {
    this.byId = new Map();
    this.workers = {};
    /** What is known of each worker's life, and of the end of the one before: its number → { life, at, gone }. */
    this.lives = {};
    this.settings = {};
    this.paused = false;
    this._changed = changed;
    this._failed = failed;
    this._since = "";
    this._timer = null;
    this._failures = 0;
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
  }

  async look() {
    clearTimeout(this._timer);
    if (document.hidden) return;
    try {
      if (!this.paused) this._take(await ask("requests", { since: this._since }));
      this._failures = 0;
    } catch (problem) {
      this._failures += 1;
      this._failed(problem);
      if (problem instanceof Refused && problem.status < 500) return;
    }
    this._timer = setTimeout(() => this.look(), Math.min(PAUSE * 2 ** Math.min(this._failures, 4), LONGEST_PAUSE));
  }

  _take(news) {
    this._since = news.since;
    this.workers = news.workers;
    this.settings = news.settings;
    for (const request of news.requests) this.byId.set(request.id, request);
    const gone = this._forget(news);
    this._begin(Object.keys(news.kept), gone);
    this._changed(news.requests.length + gone.length > 0);
  }

  /** Lets go of what no worker has any more. One that does not answer may answer again. */
  _forget(news) {
    const kept = new Set(Object.entries(news.kept).flatMap(([life, numbers]) => numbers.map((number) => `${life}-${number}`)));
    const gone = [...this.byId.keys()].filter((id) => !kept.has(id) && news.workers[numberOf(id)] !== false);
    for (const id of gone) this.byId.delete(id);
    return gone;
  }

  /** A worker that was started again knows nothing of the requests of its predecessor. */
  _begin(lives, gone) {
    for (const life of lives) {
      const number = numberOf(life);
      const before = this.lives[number];
      if (before?.life === life) continue;
      const lost = gone.filter((id) => id.startsWith(`${before?.life}-`)).length;
      this.lives[number] = before ? { life, at: Date.now() / 1000, gone: lost } : { life };
    }
  }

  /** Newest first. */
  get list() {
    return [...this.byId.values()].sort((one, two) => two.began - one.began || (one.id < two.id ? 1 : -1));
  }
}

/** The number of the worker that has this request, or this life. */
function numberOf(id) {
  return id.slice(0, id.indexOf("-"));
}
