// What the published Node SDK makes of what is kept: one JSON object for each thing tried.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });

async function chain(...said) {
  const turns = [];
  for (const input of said) {
    turns.push(await client.responses.create({ model: "demo", input, previous_response_id: turns.at(-1)?.id }));
  }
  return turns;
}

async function refusalOf(asked) {
  try {
    await asked;
    return {};
  } catch (error) {
    return { status: error.status, message: error.error.message };
  }
}

async function walked(pages) {
  const ids = [];
  for await (const item of pages) ids.push(item.id);
  return ids;
}

async function seen(stream, enough = Infinity) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length >= enough) break;
  }
  return events;
}

const scenarios = {
  async resume() {
    const asked = { model: "demo", input: "Hello", background: true, stream: true };
    const [first, ...more] = await seen(await client.responses.create(asked), 5);
    const id = first.response.id;
    const rest = await seen(await client.responses.retrieve(id, { stream: true, starting_after: more.at(-1).sequence_number }));
    const helper = client.responses.stream({ response_id: id, starting_after: 3 });
    const helped = await seen(helper);
    const final = await helper.finalResponse();
    return { joined: [first, ...more, ...rest], helped, final, found: await client.responses.retrieve(id) };
  },

  async retrieve() {
    const [made] = await chain("Hello");
    const found = await client.responses.retrieve(made.id, { include: ["message.output_text.logprobs"] });
    return { made, found };
  },

  async inputItems() {
    const turns = await chain("One", "Two", "Three");
    const told = { answers: turns.map((turn) => turn.output[0].id) };
    for (const order of ["asc", "desc"]) {
      told[order] = await walked(client.responses.inputItems.list(turns[2].id, { order, limit: 1 }));
    }
    return told;
  },

  async cancel() {
    const [made] = await chain("Hello");
    return refusalOf(client.responses.cancel(made.id));
  },

  async delete() {
    const [made] = await chain("Hello");
    await client.responses.delete(made.id);
    return { id: made.id, ...(await refusalOf(client.responses.retrieve(made.id))) };
  },

  async conversation() {
    const made = await client.conversations.create();
    const changed = await client.conversations.update(made.id, { metadata: { topic: "demo" } });
    const items = [1, 2, 3].map((number) => ({ role: "user", content: `${number}` }));
    const added = await client.conversations.items.create(made.id, { items });
    const walk = await walked(client.conversations.items.list(made.id, { order: "asc", limit: 1 }));
    const one = await client.conversations.items.retrieve(walk[0], { conversation_id: made.id });
    const after = await client.conversations.items.delete(walk[1], { conversation_id: made.id });
    const rest = await walked(client.conversations.items.list(made.id, { order: "asc" }));
    const gone = await client.conversations.delete(made.id);
    return {
      metadata: changed.metadata,
      added: added.data.map((item) => item.id),
      walk,
      text: one.content[0].text,
      sameConversation: after.id === made.id,
      rest,
      deleted: gone.deleted,
      refusal: await refusalOf(client.conversations.retrieve(made.id)),
    };
  },
};

console.log(JSON.stringify(await scenarios[process.argv[3]]()));
