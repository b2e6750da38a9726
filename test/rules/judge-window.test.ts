import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, type AdminApp } from '../support/administration.ts'
import { publish, startScene, withJudge } from '../support/judge-scene.ts'
import { answerWith, streamFrames } from '../support/paid-app.ts'
import { answerStream, type Script, type TestUpstream } from '../support/upstream.ts'

const paragraph = `${'The gate of the old town was open all day. '.repeat(10).trimEnd()}\n\n`
const rude = paragraph.replaceAll('old', 'rude')

const ask = (app: AdminApp, stream: boolean): Promise<Response> =>
  app.post('/v1/chat/completions', { model: 'default-model', stream, messages: [{ role: 'user', content: 'Hello' }] })

/** The judge denies every text with the word. */
const judgeOf =
  (word: string): Script =>
  (response, request) => {
    const isDenied = textJudgedIn(request.body).includes(word)
    return answerWith(`{"score": ${isDenied ? 0.9 : 0.1}}`, { input: 200, output: 8 })(response, request)
  }

const coverageOf = async ({ admin }: AdminApp, response: Response): Promise<unknown> => {
  const events = itemsOf(await admin.get(`/audit_logs?request_id=${response.headers.get('x-request-id')}`))
  return (events[0]?.['details'] as Record<string, unknown> | undefined)?.['coverage']
}

/** The judged parts of the answer. The name of the upstream's model is judged as well. */
const judgedTexts = ({ requests }: TestUpstream): readonly string[] =>
  requests.map(({ body }) => textJudgedIn(body)).filter((text) => !/^(?:paid)+$/.test(text))

function textJudgedIn(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] }
  return /BEGIN .*\n([^]*)\nEND /.exec(messages.at(-1)?.content ?? '')?.[1] ?? ''
}

/** The text of a streamed answer. */
const textIn = (frames: string): string =>
  [...frames.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) => JSON.parse(json) as string).join('')

const published = { direction: 'response', judge_window: 'paragraph' }

describe('a streamed answer under a policy with judge_window: paragraph', () => {
  it('is sent paragraph by paragraph, each as soon as the judge allows it', async () => {
    await using scene = await startScene(withJudge())
    const { app, upstream, judge } = scene
    judge.answer(judgeOf('rude'))
    await publish(app, 'Be polite.', published)
    const received = Promise.withResolvers<void>()
    const [first, ...rest] = streamFrames([paragraph, 'The end.'], { input: 5, output: 5 })
    upstream.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(first)
      await received.promise // the rest is generated only after the caller has read the first paragraph
      response.end(rest.join(''))
    })
    const response = await ask(app, true)
    assert.equal(response.headers.get('x-gatehouse-hold-back'), 'paragraph')
    let frames = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      frames += chunk
      if (textIn(frames) === paragraph) received.resolve()
    }
    assert.equal(textIn(frames), `${paragraph}The end.`)
    assert.deepEqual(judgedTexts(judge), [paragraph, 'The end.'])
    assert.equal(await coverageOf(app, response), 'paragraph')
  })

  it('ends before the paragraph that the judge denies, as the same answer that is not streamed is denied', async () => {
    await using scene = await startScene(withJudge())
    const { app, upstream, judge } = scene
    await publish(app, 'Be polite.', published)
    const texts = [paragraph, rude, paragraph]
    const [first, ...rest] = streamFrames(texts, { input: 5, output: 5 })
    const isJudged = Promise.withResolvers<void>()
    judge.answer((response, request) => {
      if (request.body.includes('The gate')) isJudged.resolve()
      return judgeOf('rude')(response, request)
    })
    upstream.answer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(first)
      await isJudged.promise // otherwise the gateway may read all paragraphs at once, and send none of them
      response.end(rest.join(''))
    })
    const frames = await (await ask(app, true)).text()
    assert.equal(textIn(frames), paragraph)
    assert.match(frames, /"finish_reason":"content_filter"/)
    upstream.answer(answerWith(texts.join(''), { input: 5, output: 5 }))
    assert.match(await (await ask(app, false)).text(), /"finish_reason":"content_filter"/)
  })

  it('is judged as a whole block without the setting', async () => {
    await using scene = await startScene(withJudge())
    const { app, upstream, judge } = scene
    judge.answer(judgeOf('rude'))
    await publish(app, 'Be polite.', { direction: 'response' })
    upstream.answer(answerStream(...streamFrames([paragraph, paragraph], { input: 5, output: 5 })))
    const response = await ask(app, true)
    assert.equal(response.headers.get('x-gatehouse-hold-back'), 'whole')
    assert.equal(textIn(await response.text()), paragraph + paragraph)
    assert.deepEqual(judgedTexts(judge), [paragraph + paragraph])
    assert.equal(await coverageOf(app, response), 'whole')
  })
})
