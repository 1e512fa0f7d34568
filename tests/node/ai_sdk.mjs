// What Vercel's AI SDK makes of the proxy: one JSON object for each thing tried.
import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, scenario, api] = process.argv.slice(2);
const model = createOpenAI({ baseURL, apiKey: "none" })[api]("demo");
const asked = [];
const tools = {
  get_weather: tool({
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked.push(city);
      return { city, degrees: 18 };
    },
  }),
};
const agent = { model, tools, prompt: "What is the weather in Paris?", stopWhen: stepCountIs(4), maxRetries: 0 };

const scenarios = {
  async text() {
    const { text, finishReason, usage } = await generateText({ model, prompt: "Hello", maxRetries: 0 });
    return { text, finishReason, tokens: usage.outputTokens };
  },

  async streamedTools() {
    const kinds = [];
    const result = streamText(agent);
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      kinds.push(part.type);
    }
    return { kinds: [...new Set(kinds)], asked, text: await result.text, steps: (await result.steps).length };
  },

  // As Cline does it: it runs the calls itself, and completes what is no JSON yet.
  async cut() {
    const told = { calls: [], errors: [] };
    const declared = { get_weather: { ...tools.get_weather, execute: undefined } };
    const once = { ...agent, tools: declared, stopWhen: stepCountIs(1), onError() {} };
    try {
      for await (const part of streamText(once).fullStream) {
        if (part.type === "tool-call") told.calls.push(part.input);
        if (part.type === "error") told.errors.push(part.error.message);
        if (part.type === "finish") told.reason = part.finishReason;
      }
    } catch (error) {
      told.errors.push(error.message);
    }
    return told;
  },

  async tools() {
    const { text, steps } = await generateText(agent);
    return { asked, text, steps: steps.length };
  },

  async object() {
    const schema = z.object({ city: z.string(), days: z.number() });
    const { object } = await generateObject({ model, schema, prompt: "3 days in Paris", maxRetries: 0 });
    return { object };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
