// What the published Node SDK makes of the proxy: one JSON object for each thing tried.
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const weather = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const paris = { model: "demo", input: "What is the weather in Paris?", tools: [weather] };

const scenarios = {
  async create() {
    const response = await client.responses.create({ model: "demo", input: "Hello" });
    return { status: response.status, text: response.output_text };
  },

  async call() {
    const response = await client.responses.create(paris);
    const [call] = response.output;
    const output = { type: "function_call_output", call_id: call.call_id, output: "18 degrees" };
    const input = [{ role: "user", content: paris.input }, ...response.output, output];
    const second = await client.responses.create({ ...paris, input });
    return { name: call.name, arguments: JSON.parse(call.arguments), text: second.output_text };
  },

  async events() {
    const types = [];
    for await (const event of await client.responses.create({ ...paris, stream: true })) types.push(event.type);
    return { types };
  },

  async stream() {
    const stream = client.responses.stream(paris);
    let deltas = "";
    stream.on("response.function_call_arguments.delta", (event) => (deltas += event.delta));
    const final = await stream.finalResponse();
    return { deltas, arguments: final.output[0].arguments, status: final.status };
  },

  async streamedText() {
    const stream = client.responses.stream({ model: "demo", input: "Hello" });
    let deltas = "";
    for await (const event of stream) if (event.type === "response.output_text.delta") deltas += event.delta;
    return { deltas, text: (await stream.finalResponse()).output_text };
  },

  async parse() {
    const format = zodTextFormat(z.object({ city: z.string(), days: z.number() }), "trip");
    const asked = { model: "demo", input: "3 days in Paris", text: { format } };
    return { parsed: (await client.responses.parse(asked)).output_parsed };
  },

  async refused() {
    try {
      await client.responses.create({ model: "demo", input: "Hello", temperature: "warm" });
      return {};
    } catch (error) {
      return { status: error.status, param: error.param, kind: error.constructor.name };
    }
  },

  async models() {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    return { ids };
  },
};

console.log(JSON.stringify(await scenarios[process.argv[3]]()));
