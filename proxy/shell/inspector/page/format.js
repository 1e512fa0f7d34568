// Numbers and times as people read them.

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0 ms";
  if (value < 0.0005) return "<1 ms";
  if (value < 0.01) return `${(value * 1000).toFixed(1)} ms`;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 100) return `${value.toFixed(1)} s`;
  if (value < 5400) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  return `${(value / 3600).toFixed(1)} h`;
}

export function count(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10_000) return String(value);
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

export function clock(epoch) {
  const date = new Date(epoch * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function day(epoch) {
  return new Date(epoch * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
}

/** Of a request: the attempt that was made last. */
export const last = (request) => request.attempts[request.attempts.length - 1];

/** The seconds from the beginning of a request to the model's first word. */
export function firstText(request) {
  return last(request)?.first_text ?? null;
}

/** Tokens per second, from the first word to the end. */
export function speed(request) {
  const attempt = last(request);
  const tokens = request.output_tokens;
  if (!attempt || !tokens || attempt.first_text === null || attempt.ended === null) return null;
  const time = attempt.ended - attempt.first_text;
  return tokens > 3 && time > 0.001 ? tokens / time : null;
}

const INCOMPLETE = { max_tokens: "limit of tokens", filtered: "content filter" };

/** What became of a request, in a word or two. */
export function outcome(request) {
  if (request.live) return "live";
  if (request.status === 499) return "left";
  if (request.fault || request.status >= 400) return "failed";
  return INCOMPLETE[request.ending] ?? request.ending ?? "answered";
}

export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function middle(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  if (!values.length) return null;
  const sorted = [...values].sort((one, two) => one - two);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
