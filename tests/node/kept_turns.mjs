// What the published Node SDK makes of turns behind what is kept: one JSON object for each thing tried.
import OpenAI from "openai";

const [baseURL, scenario, modelURL] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
const weather = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const asks = { model: "demo", tools: [weather] };
const outputs = (response) =>
  response.output
    .filter((item) => item.type === "function_call")
    .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "18 degrees" }));

const whole = (body) => client.responses.create({ ...asks, ...body });
const streamed = (body) => client.responses.stream({ ...asks, ...body }).finalResponse();

async function chain(turn) {
  const first = await turn({ input: "The weather?" });
  const second = await turn({ input: outputs(first), previous_response_id: first.id });
  const third = await turn({ input: "Thanks", previous_response_id: second.id });
  return { made: [first.id, second.id, third.id], parent: third.previous_response_id, text: second.output_text };
}

async function conversation(turn) {
  const made = await client.conversations.create({ items: [{ role: "developer", content: "Be brief." }] });
  const first = await turn({ input: "The weather?", conversation: made.id });
  const second = await turn({ input: outputs(first), conversation: { id: made.id } });
  const kept = [];
  for await (const item of client.conversations.items.list(made.id, { order: "asc", limit: 1 })) kept.push(item.type);
  return { kept, same: second.conversation.id === made.id, text: second.output_text };
}

const scenarios = {
  async cancelledStream() {
    const stream = await client.responses.create({ model: "m", input: "Hi", background: true, stream: true });
    let id;
    for await (const event of stream) {
      id ??= event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    const cancelled = await client.responses.cancel(id);
    const final = await client.responses.stream({ response_id: id }).finalResponse();
    return { cancelled, final, found: await client.responses.retrieve(id) };
  },

  chain: () => chain(whole),
  streamedChain: () => chain(streamed),
  conversation: () => conversation(whole),
  streamedConversation: () => conversation(streamed),

  // The model answers the first turn when it is told that the second has been refused.
  async locked() {
    const refused = [];
    const watched = async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 400) {
        refused.push((await response.clone().json()).error.code);
        await fetch(`${modelURL}/chat/completions`, { method: "POST", body: "{}" });
      }
      return response;
    };
    const patient = new OpenAI({ baseURL, apiKey: "none", maxRetries: 2, fetch: watched });
    const { id } = await client.conversations.create();
    const first = await client.responses.create({ model: "demo", input: "1", conversation: id, stream: true });
    const said = [];
    const second = patient.responses.create({ model: "demo", input: "2", conversation: id });
    for await (const event of first) if (event.type === "response.output_text.delta") said.push(event.delta);
    return { refused, said: said.join(""), second: (await second).output_text };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
