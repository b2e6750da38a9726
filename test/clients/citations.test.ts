import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { framesOf, httpKinds, promptOf, startScripted, type ScriptedScene } from './scripted-upstream.ts'

/** What a client reports about one citation: the page, and the text that the page supports. */
type Cited = { readonly url: string; readonly title: string | null; readonly text: string }

const pages = [
  { url: 'https://rome.example/weather', title: 'Weather in Rome', text: 'Rome is sunny.' },
  { url: 'https://oslo.example/weather', title: 'Weather in Oslo', text: 'Oslo is cold.' },
]
const pagesOnly = pages.map(({ url, title }) => ({ url, title }))

type Span = { readonly url: string; readonly title: string; readonly start_index: number; readonly end_index: number }

const citedIn = (text: string, { url, title, start_index, end_index }: Span): Cited => ({
  url,
  title,
  text: text.slice(start_index, end_index).trim(),
})

const ofMessage = (message: Anthropic.Message): Anthropic.TextCitation[] =>
  message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))

const pagesOf = (message: Anthropic.Message): object[] =>
  ofMessage(message).flatMap((citation) =>
    citation.type === 'web_search_result_location' ? { url: citation.url, title: citation.title } : [],
  )

const ofResponse = ({ output }: OpenAI.Responses.Response): Cited[] =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .flatMap((part) =>
      part.type === 'output_text'
        ? part.annotations.flatMap((one) => (one.type === 'url_citation' ? citedIn(part.text, one) : []))
        : [],
    )

const ofCompletion = ({ choices: [choice] }: OpenAI.ChatCompletion): Cited[] =>
  (choice?.message.annotations ?? []).map((one) => citedIn(choice?.message.content ?? '', one.url_citation))

describe('citations of web pages', () => {
  let scene: ScriptedScene
  let anthropic: Anthropic
  let openai: OpenAI
  before(async () => {
    scene = await startScripted()
    const { url, apiKey } = scene.app
    anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
    openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const kind of httpKinds) {
    const whole = promptOf({ recording: 'citations', form: 'document', at: 4, fault: 'end' })
    const streamed = promptOf({
      recording: 'citations',
      form: 'stream',
      at: framesOf(kind, 'citations').length,
      fault: 'end',
    })

    it(`of ${kind} reach a Messages client`, async () => {
      const params = (content: string) => ({
        model: kind,
        max_tokens: 100,
        messages: [{ role: 'user' as const, content }],
      })
      assert.deepEqual(pagesOf(await anthropic.messages.create(params(whole))), pagesOnly)
      assert.deepEqual(pagesOf(await anthropic.messages.stream(params(streamed)).finalMessage()), pagesOnly)
    })

    it(`of ${kind} reach a Responses client`, async () => {
      assert.deepEqual(ofResponse(await openai.responses.create({ model: kind, input: whole })), pages)
      const stream = openai.responses.stream({ model: kind, input: streamed })
      const added: unknown[] = []
      for await (const event of stream)
        if (event.type === 'response.output_text.annotation.added') added.push(event.annotation)
      const response = await stream.finalResponse()
      assert.deepEqual(ofResponse(response), pages)
      const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
      assert.deepEqual(
        added,
        parts.flatMap((part) => (part.type === 'output_text' ? part.annotations : [])),
      )
    })

    it(`of ${kind} reach a Chat Completions client`, async () => {
      const params = (content: string) => ({ model: kind, messages: [{ role: 'user' as const, content }] })
      assert.deepEqual(ofCompletion(await openai.chat.completions.create(params(whole))), pages)
      const stream = openai.chat.completions.stream({ ...params(streamed), stream: true })
      assert.deepEqual(ofCompletion(await stream.finalChatCompletion()), pages)
    })
  }

  it('of another upstream are not sent to Anthropic in a later turn, and the answer names them', async () => {
    const prompt = promptOf({ recording: 'citations', form: 'document', at: 4, fault: 'end' })
    const ask = { role: 'user' as const, content: prompt }
    const first = await anthropic.messages.create({ model: 'openai-chat', max_tokens: 100, messages: [ask] })
    const again = `${prompt} #7`
    const { response } = await anthropic.messages
      .create({
        model: 'anthropic',
        max_tokens: 100,
        messages: [ask, { role: 'assistant', content: first.content }, { role: 'user', content: again }],
      })
      .withResponse()
    const received = await scene.receivedRequest(again)
    assert.match(received.body, /Rome is sunny\. Oslo is cold\./)
    assert.doesNotMatch(received.body, /rome\.example/)
    assert.equal(response.headers.get('x-gatehouse-dropped'), 'citations')
  })

  it('of Anthropic are sent back to Anthropic unchanged', async () => {
    const prompt = promptOf({ recording: 'citations', form: 'document', at: 4, fault: 'end' })
    const ask = { role: 'user' as const, content: prompt }
    const first = await anthropic.messages.create({ model: 'anthropic', max_tokens: 100, messages: [ask] })
    const again = `${prompt} #8`
    await anthropic.messages.create({
      model: 'anthropic',
      max_tokens: 100,
      messages: [ask, { role: 'assistant', content: first.content }, { role: 'user', content: again }],
    })
    const received: { messages: { content: unknown }[] } = JSON.parse((await scene.receivedRequest(again)).body)
    assert.deepEqual(received.messages[1]?.content, first.content)
    assert.equal(ofMessage(first).length, 3)
  })
})
