// What the published Node SDK makes of the proxy's Chat Completions: one JSON object for each thing tried.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const chat = client.chat.completions;
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { type: "function", function: { name: "get_weather", parameters } };
const saying = (content) => ({ model: "demo", messages: [{ role: "user", content }] });
const paris = { ...saying("What is the weather in Paris?"), tools: [weather] };

const scenarios = {
  async create() {
    const { choices, usage } = await chat.create(saying("Hello"));
    return { text: choices[0].message.content, reason: choices[0].finish_reason, tokens: usage.total_tokens };
  },

  async call() {
    const { choices } = await chat.create(paris);
    const [call] = choices[0].message.tool_calls;
    const result = { role: "tool", tool_call_id: call.id, content: "18 degrees" };
    const second = await chat.create({ ...paris, messages: [...paris.messages, choices[0].message, result] });
    return { ...call.function, reason: choices[0].finish_reason, text: second.choices[0].message.content };
  },

  async stream() {
    const stream = chat.stream({ ...paris, stream_options: { include_usage: true } });
    let deltas = "";
    stream.on("tool_calls.function.arguments.delta", (event) => (deltas += event.arguments_delta));
    const { choices, usage } = await stream.finalChatCompletion();
    const [call] = choices[0].message.tool_calls;
    return { deltas, arguments: call.function.arguments, tokens: usage.total_tokens };
  },

  async runTools() {
    const asked = [];
    const run = ({ city }) => asked.push(city) && "18 degrees";
    const tool = { type: "function", function: { ...weather.function, function: run, parse: JSON.parse } };
    const text = await chat.runTools({ ...paris, tools: [tool], stream: true }).finalContent();
    return { asked, text };
  },

  async parse() {
    const response_format = zodResponseFormat(z.object({ city: z.string(), days: z.number() }), "trip");
    const { choices } = await chat.parse({ ...saying("3 days in Paris"), response_format });
    return { parsed: choices[0].message.parsed };
  },

  async broken() {
    let said = "";
    try {
      for await (const chunk of await chat.create({ ...saying("Hello"), model: "demo-error", stream: true })) {
        said += chunk.choices[0].delta.content ?? "";
      }
      return { said };
    } catch (error) {
      return { said, failed: error instanceof OpenAI.APIError, code: error.code };
    }
  },
};

console.log(JSON.stringify(await scenarios[process.argv[3]]()));
