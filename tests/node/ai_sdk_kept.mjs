// What Vercel's AI SDK makes of what is kept: its answers, and each input that it sent.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, scenario] = process.argv.slice(2);
const sent = [];
const watched = async (url, init) => {
  const body = JSON.parse(init.body);
  sent.push({ ...body, input: body.input.map((item) => item.type ?? item.role) });
  return fetch(url, init);
};
const openai = createOpenAI({ baseURL, apiKey: "none", fetch: watched });
const loop = { model: openai("demo"), stopWhen: stepCountIs(4), maxRetries: 0 };
const tools = {
  get_weather: tool({
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `18 degrees in ${city}`,
  }),
};
const told = (text) => ({
  text,
  inputs: sent.map((body) => body.input),
  parents: sent.map((body) => body.previous_response_id ?? null),
});

async function generated(asked) {
  const result = await generateText({ ...loop, tools, ...asked });
  return { text: result.text, messages: result.responseMessages, id: result.response.id };
}

async function streamed(asked) {
  const result = streamText({ ...loop, tools, ...asked });
  for await (const part of result.fullStream) if (part.type === "error") throw part.error;
  return { text: await result.text, messages: await result.responseMessages, id: (await result.response).id };
}

const paris = { role: "user", content: "What is the weather in Paris?" };
const thanks = { role: "user", content: "Thanks" };

async function references(run) {
  const first = await run({ messages: [paris] });
  await run({ messages: [paris, ...first.messages, thanks] });
  return told(first.text);
}

const scenarios = {
  generated: () => references(generated),
  streamed: () => references(streamed),
  reasoned: () => references((asked) => streamed({ ...asked, model: openai("gpt-5") })),

  async previousResponseId() {
    const first = await generated({ messages: [paris] });
    const providerOptions = { openai: { previousResponseId: first.id } };
    await generated({ messages: [...first.messages.slice(-1), thanks], providerOptions });
    await generated({ messages: [thanks], providerOptions });
    return told(first.text);
  },

  async conversation() {
    const made = await fetch(`${baseURL}/conversations`, { method: "POST", headers: { authorization: "Bearer none" } });
    const { id: conversation } = await made.json();
    const first = await generated({ messages: [paris], providerOptions: { openai: { conversation } } });
    await generated({ messages: [thanks], providerOptions: { openai: { conversation } } });
    return told(first.text);
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
