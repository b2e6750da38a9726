import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { createMemoryUpstream } from '../../../test/support/memory-upstream.ts'
import {
  ask,
  askAndFail,
  callOf,
  jsonHeaders,
  say,
  sentTo,
  streamHeaders,
  testProvider,
  tool,
} from '../../../test/support/provider-kit.ts'
import { requestBy } from '../../../test/support/requests.ts'
import { hourMs } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import { pullStreamOf, nextOf } from '../../base/pull-stream.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { CallerFormat } from '../../domain/inference/formats.ts'
import type { ContentPart } from '../../domain/inference/request.ts'
import { createAnswerMemoryBudget } from './network/answer-memory-budget.ts'

const recording = (kind: string, name: string): Buffer =>
  readFileSync(join(import.meta.dirname, kind, 'fixtures', name))

const chatChunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`

const chatStream = (...chunks: readonly string[]) => ({ headers: streamHeaders, chunks })

describe('one network read', () => {
  it('is one chunk, however many frames it has', async () => {
    const chunks = [recording('openai-chat', 'parallel-tools.sse')]
    const { chunks: received } = await ask({ kind: 'openai-chat', answer: { headers: streamHeaders, chunks } })
    assert.equal(received.length, 1)
  })

  it('is one delta for all frames that differ only in their text, and each frame keeps its own', async () => {
    const read = ['Hel', 'lo ', 'wor', 'ld'].map((content) => chatChunk({ content }))
    const answer = chatStream(
      chatChunk({ role: 'assistant' }),
      read.join(''),
      chatChunk({}, 'stop'),
      'data: [DONE]\n\n',
    )
    const { chunks: received } = await ask({ kind: 'openai-chat', answer, request: requestBy('chat') })
    const texts = received.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'delta' ? event.text : [])),
    )
    assert.deepEqual(texts, ['Hel', 'lo world'])
    const frames = received.flatMap(({ raw }) => (raw?.kind === 'frames' ? raw.frames : []))
    assert.deepEqual(
      frames.slice(1, 5).map(({ data }) => `data: ${data}\n\n`),
      read,
    )
    assert.deepEqual(
      new Set(frames.slice(3, 5).map(({ template }) => template?.after)),
      new Set(['"},"finish_reason":null}]}']),
    )
  })

  it('is delivered immediately', async () => {
    const { chunks: received } = await ask({
      kind: 'openai-chat',
      answer: chatStream(
        chatChunk({ content: 'a' }),
        chatChunk({ content: 'b' }),
        chatChunk({}, 'stop'),
        'data: [DONE]\n\n',
      ),
      request: requestBy('messages'),
    })
    assert.deepEqual(
      received.map(({ events }) => events.map((event) => event.type).join(' ')),
      ['start open delta', 'delta', 'close end'],
    )
  })
})

describe('out-of-band text of a frame', () => {
  it('is delivered with its chunk, including after many frames that differ only in their text', async () => {
    const annotations = [{ type: 'url_citation', url_citation: { title: 'one two' } }]
    const answer = chatStream(
      chatChunk({ role: 'assistant', content: '' }),
      chatChunk({ content: 'a' }),
      chatChunk({ content: 'b' }),
      chatChunk({ content: 'c' }),
      chatChunk({ content: 'd', annotations }),
      chatChunk({}, 'stop'),
      'data: [DONE]\n\n',
    )
    const { chunks: received } = await ask({ kind: 'openai-chat', answer, request: requestBy('chat') })
    const title = { field: 'choices.delta.annotations.url_citation.title', text: 'one two' }
    const type = { field: 'choices.delta.annotations.type', text: 'url_citation' }
    assert.deepEqual(received.map(({ outOfBand }) => outOfBand).slice(0, 6), [
      undefined,
      undefined,
      undefined,
      undefined,
      [type, title],
      undefined,
    ])
  })
})

describe('a ping before the response', () => {
  it('does not start the response, so another upstream may still be tried', async () => {
    const chunks = ['event: ping\ndata: {"type":"ping"}\n\n', recording('anthropic', 'text.sse')]
    const answer = { headers: streamHeaders, chunks }
    const { chunks: received } = await ask({ kind: 'anthropic', answer, request: requestBy('messages') })
    assert.equal(received[0]?.events[0]?.type, 'start')
  })
})

describe('the end marker of a stream', () => {
  it('is recognised with trailing white space', async () => {
    const answer = chatStream(chatChunk({ content: 'a' }), chatChunk({}, 'stop'), 'data: [DONE] \n\n')
    const { folded } = await ask({ kind: 'openai-chat', answer, request: requestBy('chat') })
    assert.equal(folded.stopReason, 'end')
  })
})

describe('raw frames', () => {
  it('are delivered only to callers of the same dialect', async () => {
    const answer = { headers: streamHeaders, chunks: [recording('anthropic', 'text.sse')] }
    const same = await ask({ kind: 'anthropic', answer, request: requestBy('messages') })
    assert.equal(same.chunks[0]?.raw?.kind, 'frames')
    const other = await ask({ kind: 'anthropic', answer, request: requestBy('chat') })
    assert.equal(other.chunks[0]?.raw, undefined)
  })

  it('are not passed through if the event name differs from the type, because clients dispatch on the name', async () => {
    const misnamed = recording('anthropic', 'text.sse')
      .toString()
      .replaceAll(/^event: .*$/gm, 'event: message')
    const answer = { headers: streamHeaders, chunks: [misnamed] }
    const { chunks: received, folded } = await ask({ kind: 'anthropic', answer, request: requestBy('messages') })
    assert.equal(received[0]?.raw, undefined)
    assert.equal(folded.stopReason, 'end')
  })

  it('are the whole document if nothing was streamed', async () => {
    const answer = { headers: jsonHeaders, chunks: [recording('anthropic', 'text.json')] }
    const { chunks: received } = await ask({
      kind: 'anthropic',
      answer,
      request: requestBy('messages', { stream: false }),
    })
    assert.equal(received.length, 1)
    assert.equal(received[0]?.raw?.kind, 'document')
  })

  it('include a JSON response to a streaming request, decoded as events', async () => {
    const answer = { headers: jsonHeaders, chunks: [recording('openai-chat', 'text.json')] }
    const { folded } = await ask({ kind: 'openai-chat', answer, request: requestBy('chat', { stream: true }) })
    assert.deepEqual(folded.blocks, [{ type: 'text', text: 'Grüße, 世界 👋' }])
  })
})

describe('a stream with endless text', () => {
  it('fails when it exceeds the limit of a whole response, including tool arguments', async () => {
    const half = 'x'.repeat(40_000)
    const call = { index: 0, id: 'c', function: { name: 'f', arguments: half } }
    for (const delta of [{ content: half }, { reasoning_content: half }, { tool_calls: [call] }]) {
      const answer = chatStream(chatChunk(delta), chatChunk(delta))
      const fault = await askAndFail({ kind: 'openai-chat', answer, settings: { maxAnswerBytes: 65_536 } })
      assert.match(fault.message, /text of more than 65536 bytes/)
    }
  })
})

describe('a stream with endless out-of-band text', () => {
  it('fails when it exceeds the limit of a whole response', async () => {
    const delta = (letter: string) => ({ role: 'assistant', content: 'a', tool_plan: letter.repeat(40_000) })
    const answer = chatStream(chatChunk(delta('x')), chatChunk(delta('y')))
    const settings = { maxAnswerBytes: 65_536 }
    const fault = await askAndFail({ kind: 'openai-chat', answer, settings, request: requestBy('chat') })
    assert.match(fault.message, /text of more than 65536 bytes/)
  })
})

describe('the memory lease of a response', () => {
  it('is released when the response ends, is stopped, or fails before or after its first chunk', async () => {
    const answerMemory = createAnswerMemoryBudget(300_000)
    const content = 'x'.repeat(200_000)
    const whole = { choices: [{ message: { content }, finish_reason: 'stop' }] }
    const answers = [
      { headers: jsonHeaders, chunks: [JSON.stringify({ choices: [], content })] },
      { headers: jsonHeaders, chunks: [JSON.stringify(whole).slice(0, -9)] },
      chatStream(': ping\n\n', 'data: {"error":"boom"}\n\n'),
      chatStream(chatChunk({ content }), 'data: {"error":"boom"}\n\n'),
      chatStream(chatChunk({ content }), chatChunk({}, 'stop'), 'data: [DONE]\n\n'),
    ]
    for (const answer of [...answers, ...answers, ...answers]) {
      const { dispatcher } = createMemoryUpstream(answer)
      const received = pullStreamOf(
        testProvider({ kind: 'openai-chat', answerMemory }, dispatcher).infer(callOf({}, () => {})),
      )
      try {
        while ((await nextOf(received)) !== undefined) continue
        await received.stop?.()
      } catch (error) {
        assert.ok(isFault(error))
        assert.equal(error.kind, 'upstream_failed')
      }
    }
    answerMemory.open().reserve(300_000)
  })

  it('is released with the end of the response, also if nobody stops it after that', async () => {
    const answerMemory = createAnswerMemoryBudget(300_000)
    const content = 'x'.repeat(200_000)
    const whole = { choices: [{ message: { content: content.slice(0, 100_000) }, finish_reason: 'stop' }] }
    const answers = [
      { headers: jsonHeaders, chunks: [JSON.stringify(whole)] },
      chatStream(chatChunk({ content }), chatChunk({}, 'stop'), 'data: [DONE]\n\n'),
    ]
    for (const answer of [...answers, ...answers]) {
      const { dispatcher } = createMemoryUpstream(answer)
      const received = pullStreamOf(
        testProvider({ kind: 'openai-chat', answerMemory }, dispatcher).infer(callOf({}, () => {})),
      )
      let chunk
      do chunk = await nextOf(received)
      while (chunk?.events.at(-1)?.type !== 'end')
    }
    answerMemory.open().reserve(300_000)
  })
})

describe('a response that fails', () => {
  it('delivers the events before the failure in the same read, then throws', async () => {
    const upstream = createMemoryUpstream({
      ...chatStream(`${chatChunk({ content: 'half' })}data: {"error":"boom"}\n\n`),
    })
    const seen: Chunk[] = []
    await assert.rejects(async () => {
      const provider = testProvider({ kind: 'openai-chat' }, upstream.dispatcher)
      for await (const chunk of provider.infer(callOf({}, () => {}))) seen.push(chunk)
    }, isFault)
    assert.deepEqual(
      seen.flatMap(({ events }) => events.map((event) => event.type)),
      ['start', 'open', 'delta'],
    )
  })

  it('throws if a 200 contains an error or an unknown body', async () => {
    const bodies: readonly [
      kind: 'anthropic' | 'openai-chat' | 'openai-responses',
      body: object,
      kindOfFault: string,
    ][] = [
      ['anthropic', { type: 'error', error: { type: 'overloaded_error', message: 'm' } }, 'upstream_overloaded'],
      ['anthropic', { hello: 'world' }, 'upstream_failed'],
      ['openai-chat', { error: { message: 'm', code: 429 } }, 'upstream_overloaded'],
      ['openai-chat', { hello: 'world' }, 'upstream_failed'],
      ['openai-chat', { choices: [] }, 'upstream_failed'],
      ['openai-chat', { choices: [{ message: { content: 'half' }, finish_reason: null }] }, 'upstream_failed'],
      [
        'openai-responses',
        { status: 'failed', output: [], error: { code: 'server_error', message: 'm' } },
        'upstream_failed',
      ],
      [
        'openai-responses',
        { status: 'failed', output: [], error: { code: 'rate_limit_exceeded', message: 'm' } },
        'upstream_overloaded',
      ],
      ['openai-responses', { status: 'queued', output: [] }, 'upstream_failed'],
      ['openai-responses', { hello: 'world' }, 'upstream_failed'],
    ]
    for (const [kind, body, kindOfFault] of bodies) {
      const answer = { headers: jsonHeaders, chunks: [JSON.stringify(body)] }
      assert.equal((await askAndFail({ kind, answer })).kind, kindOfFault, JSON.stringify(body))
    }
  })

  it('recognises every error format of the vendors', async () => {
    const streams: readonly [kind: 'openai-chat' | 'openai-responses', frame: string][] = [
      [
        'openai-responses',
        '{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}',
      ],
      ['openai-responses', '{"type":"response.failed","response":{"status":"failed","error":null}}'],
      ['openai-responses', '{"type":"response.cancelled","response":{"status":"cancelled"}}'],
      ['openai-responses', '{"type":"error","error":{"type":"server_error","message":"m"}}'],
      ['openai-chat', '{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}'],
      ['openai-chat', '{"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}'],
      ['openai-chat', '{"object":"error","message":"m","code":500}'],
      ['openai-chat', 'not json'],
      ['openai-chat', '[1]'],
      ['openai-chat', '[DONE]'],
    ]
    for (const [kind, frame] of streams) {
      const fault = await askAndFail({ kind, answer: chatStream(`data: ${frame}\n\n`) })
      assert.equal(fault.kind, 'upstream_failed', frame)
    }
  })

  it('does not crash on names such as constructor', async () => {
    for (const word of ['constructor', '__proto__', 'toString']) {
      const frame = `data: {"type":"${word}","delta":{"type":"${word}"},"error":{"type":"${word}","code":"${word}"}}\n\n`
      for (const kind of ['anthropic', 'openai-responses', 'openai-chat'] as const) {
        assert.equal((await askAndFail({ kind, answer: chatStream(frame) })).kind, 'upstream_failed')
      }
    }
  })

  it('times out if the upstream stalls after any event', async () => {
    const bytes = recording('openai-responses', 'text.sse').toString()
    const frames = bytes.split('\n\n').slice(0, -2)
    for (const [count] of frames.entries()) {
      const { clock, advance } = createHandClock()
      const expire = (): void => advance(hourMs)
      const chunks = frames.slice(0, count).map((frame) => `${frame}\n\n`)
      const answer = { ...chatStream(...chunks), ending: 'silence' as const, onSent: () => setImmediate(expire) }
      const fault = await askAndFail({ kind: 'openai-responses', clock, answer })
      assert.equal(fault.kind, 'upstream_timeout', `after ${count} frames`)
    }
  })
})

describe('stop strings that the upstream does not support', () => {
  const text = (...deltas: readonly string[]) =>
    deltas.map(
      (delta) =>
        `data: ${JSON.stringify({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta })}\n\n`,
    )
  const completed =
    'data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":4}}}\n\n'

  it('end the response where they appear, also across deltas, and cancel the upstream call', async () => {
    const answer = { ...chatStream(...text('one E', 'N', 'D two')), ending: 'silence' as const }
    const { folded } = await ask({
      kind: 'openai-responses',
      answer,
      request: requestBy('messages', { stop: ['END', 'two'] }),
    })
    assert.deepEqual(folded.blocks, [{ type: 'text', text: 'one ' }])
    assert.equal(folded.end.stopReason, 'stop-sequence')
    assert.equal(folded.end.stopSequence, 'END')
    assert.equal(folded.end.usage.source, 'estimated')
  })

  it('change nothing if they do not appear', async () => {
    const answer = chatStream(...text('one E', 'N', 'd two E'), completed)
    const { folded } = await ask({
      kind: 'openai-responses',
      answer,
      request: requestBy('messages', { stop: ['END'] }),
    })
    assert.deepEqual(folded.blocks, [{ type: 'text', text: 'one ENd two E' }])
    assert.equal(folded.end.usage.source, 'reported')
  })
})

describe('tool names that the upstream would reject', () => {
  it('are mapped back to the caller’s names', async () => {
    const name = `mcp.server/${'long'.repeat(20)}`
    const request = requestBy('messages', { tools: [tool(name)] })
    const { body } = await sentTo('openai-chat', request)
    const [{ function: sentTool }] = body['tools'] as [{ function: { name: string } }]
    assert.match(sentTool.name, /^[A-Za-z0-9_-]{1,64}$/)
    const call = { tool_calls: [{ index: 0, id: 'c', function: { name: sentTool.name, arguments: '{}' } }] }
    const { folded } = await ask({ kind: 'openai-chat', request, answer: chatStream(chatChunk(call, 'tool_calls')) })
    assert.deepEqual(folded.blocks, [{ type: 'tool-call', id: 'c', name, input: '{}' }])
  })
})

describe('tool call ids', () => {
  const idOf = async (id: string | undefined): Promise<string> => {
    const call = { tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] }
    const { folded } = await ask({ kind: 'openai-chat', answer: chatStream(chatChunk(call, 'tool_calls')) })
    const [block] = folded.blocks
    return block?.type === 'tool-call' ? block.id : assert.fail('no call')
  }

  it('are kept if every vendor accepts them', async () =>
    assert.equal(await idOf('functions_read-0'), 'functions_read-0'))

  it('are hashed otherwise, deterministically', async () => {
    assert.match(await idOf('functions.read:0'), /^call_[0-9a-f]{24}$/)
    assert.equal(await idOf('functions.read:0'), await idOf('functions.read:0'))
  })

  it('are generated if missing', async () => assert.match(await idOf(undefined), /^call_[0-9a-f]{24}$/))
})

describe('usage that the upstream does not report', () => {
  it('is estimated and marked', async () => {
    const { folded } = await ask({ kind: 'openai-chat', answer: chatStream(chatChunk({ content: 'four' }, 'stop')) })
    assert.equal(folded.end.usage.outputTokens, 4)
    assert.ok(folded.end.usage.inputTokens > 0)
    assert.equal(folded.end.usage.source, 'estimated')
  })

  it('is estimated only if it is missing', async () => {
    const usage = { prompt_tokens: 0, completion_tokens: 7 }
    const { folded } = await ask({
      kind: 'openai-chat',
      answer: chatStream(chatChunk({ content: 'four' }, 'stop', { usage })),
    })
    assert.equal(folded.end.usage.outputTokens, 7)
    assert.ok(folded.end.usage.inputTokens > 0)
    assert.equal(folded.end.usage.source, 'estimated')
  })

  it('is never negative', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: -3, prompt_tokens_details: { cached_tokens: 9 } }
    const { folded } = await ask({
      kind: 'openai-chat',
      answer: chatStream(chatChunk({ content: 'four' }, 'stop', { usage })),
    })
    assert.deepEqual([folded.end.usage.inputTokens, folded.end.usage.outputTokens], [0, 4])
  })
})

describe('thinking in the history of callers of another dialect', () => {
  const think = async (kind: 'anthropic' | 'openai-responses', by: CallerFormat): Promise<ContentPart> => {
    const answer = { headers: streamHeaders, chunks: [recording(kind, 'parallel-tools.sse')] }
    const { folded } = await ask({ kind, answer, request: requestBy(by), model: 'thinker' })
    const [block] = folded.blocks
    return block?.type === 'thinking' ? block : assert.fail('no thinking')
  }
  const sendBack = async (kind: 'anthropic' | 'openai-responses', part: ContentPart, model = 'thinker') => {
    const by = kind === 'anthropic' ? 'responses' : 'messages'
    // The caller's dialect keeps the signature but may change the text.
    const carried = part.type === 'thinking' ? { ...part, text: 'a summary' } : part
    const { body } = await sentTo(
      kind,
      requestBy(by, { messages: [say('assistant', carried, 'so'), say('user', 'go')] }),
      { model },
    )
    return JSON.stringify(body['messages'] ?? body['input'])
  }

  it('is sent to Anthropic with its signature and exact text', async () => {
    const history = await sendBack('anthropic', await think('anthropic', 'responses'))
    assert.match(history, /\{"type":"thinking","thinking":"Two files, two reads.","signature":"EqQBCgIYAhIM=="\}/)
  })

  it('is sent to OpenAI encrypted, without an id that it would look up', async () => {
    const history = await sendBack('openai-responses', await think('openai-responses', 'messages'))
    assert.match(history, /\{"type":"reasoning","summary":\[\{[^\]]*\}\],"encrypted_content":"gAAAAB=="\}/)
  })

  it('is dropped for another model or vendor, and if the envelope is not the gateway’s', async () => {
    const thought = await think('anthropic', 'responses')
    const forged: ContentPart = {
      type: 'thinking',
      text: 'x',
      signature: { format: 'messages', value: 'forged.{"value":"y"}' },
    }
    assert.doesNotMatch(await sendBack('anthropic', thought, 'other-model'), /thinking/)
    assert.doesNotMatch(await sendBack('openai-responses', thought), /reasoning/)
    assert.doesNotMatch(await sendBack('anthropic', forged), /thinking/)
    assert.doesNotMatch(await sendBack('anthropic', { type: 'thinking', text: 'bare' }), /thinking/)
  })

  it('has no signature for chat callers, because the dialect cannot carry one', async () => {
    const thought = await think('anthropic', 'chat')
    assert.equal(thought.type === 'thinking' && thought.signature, undefined)
  })
})

describe('headers', () => {
  it('are the gateway’s and the operator’s, who takes precedence, and none of the caller’s', async () => {
    const headersOfOperator = { 'X-Tenant': 't', Authorization: 'Basic abc', 'api-key': 'z' }
    const settings = { credentials: () => ({ apiKey: 'key', headers: headersOfOperator }) }
    const { headers } = await sentTo('openai-chat', requestBy('messages'), { settings })
    assert.deepEqual(headers, {
      'content-type': 'application/json',
      'user-agent': 'gatehouse',
      accept: 'text/event-stream',
      'x-client-request-id': 'req_1',
      'x-tenant': 't',
      authorization: 'Basic abc',
      'api-key': 'z',
    })
  })

  it('contain no key if none is configured', async () => {
    const upstream = createMemoryUpstream({
      headers: jsonHeaders,
      chunks: ['{"choices":[{"message":{},"finish_reason":"stop"}]}'],
    })
    const provider = testProvider(
      { kind: 'openai-chat', settings: { credentials: () => ({ apiKey: '' }) } },
      upstream.dispatcher,
    )
    for await (const chunk of provider.infer(callOf({}, () => {}))) assert.ok(chunk)
    assert.equal(upstream.requests[0]?.headers['authorization'], undefined)
  })
})
