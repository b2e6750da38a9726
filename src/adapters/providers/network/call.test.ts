import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent } from 'undici'
import {
  answerJson,
  answerStream,
  cutStream,
  silence,
  stalledStream,
  startUpstream,
} from '../../../../test/support/upstream.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import type { Script, TestUpstream } from '../../../../test/support/upstream.ts'
import type { Clock } from '../../../base/clock.ts'
import { systemClock } from '../../../base/clock.ts'
import { Fault, isFault } from '../../../base/fault.ts'
import { nextOf } from '../../../base/pull-stream.ts'
import type { SseFrame } from '../../../base/sse.ts'
import { createAnswerMemoryBudget, type AnswerMemoryBudget } from './answer-memory-budget.ts'
import type { UpstreamResponse, UpstreamCallerSettings, FrameStream } from './call.ts'
import { createCaller } from './call.ts'

const longTimeouts = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  maxAnswerBytes: 16 * 1024 * 1024,
}

type Setup = {
  readonly settings?: Partial<UpstreamCallerSettings>
  readonly clock?: Clock
  readonly url?: string
  readonly memory?: AnswerMemoryBudget
}

async function withCaller(script: Script, setup: Setup, use: (parts: Parts) => Promise<void>): Promise<void> {
  await using upstream = await startUpstream(script)
  const dispatcher = new Agent({ allowH2: false })
  const url = new URL(setup.url ?? `${upstream.url}/v1/x?y=z`)
  const { clock = systemClock, memory = createAnswerMemoryBudget(Infinity) } = setup
  const caller = createCaller({ url, ...longTimeouts, ...setup.settings }, { dispatcher, clock })
  const aborter = new AbortController()
  const call = (wantsStream = true): Promise<UpstreamResponse> =>
    caller({ headers: { 'x-one': '1' }, body: '{"a":1}', wantsStream, mayQueue: false }, aborter.signal, memory.open())
  try {
    await use({ upstream, call, aborter })
  } finally {
    await dispatcher.destroy()
  }
}

type Parts = {
  readonly upstream: TestUpstream
  readonly call: (wantsStream?: boolean) => Promise<UpstreamResponse>
  readonly aborter: AbortController
}

async function nextFrames(reads: FrameStream): Promise<readonly SseFrame[] | undefined> {
  for (;;) {
    const frames = await nextOf<readonly SseFrame[]>(reads)
    if (frames?.length !== 0) return frames
  }
}

async function dataOf(answer: UpstreamResponse): Promise<string[][]> {
  if (answer.kind !== 'stream') assert.fail('not a stream')
  const reads: string[][] = []
  for (let frames = await nextFrames(answer.frames); frames !== undefined; frames = await nextFrames(answer.frames)) {
    reads.push(frames.map((frame) => frame.data))
  }
  return reads
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  if (!isFault(error)) throw error
  return error
}

describe('a call that works', () => {
  it('posts the body with the given headers and no others', async () => {
    await withCaller(answerJson({ ok: true }), {}, async ({ upstream, call }) => {
      assert.deepEqual(await call(false), { kind: 'document', body: { ok: true } })
      const [request] = upstream.requests
      assert.equal(request?.path, '/v1/x?y=z')
      assert.equal(request?.body, '{"a":1}')
      assert.equal(request?.headers['x-one'], '1')
    })
  })

  it('returns a long document as it was sent, wherever it is split', async () => {
    const document = { list: Array.from({ length: 9_000 }, (_, at) => ({ at, text: `“${at}”\n`.repeat(9) })) }
    const bytes = Buffer.from(JSON.stringify(document))
    const part = Math.floor(bytes.length / 100)
    const cut: Script = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      Readable.from(Array.from({ length: 101 }, (_, at) => bytes.subarray(at * part, (at + 1) * part))).pipe(response)
    }
    assert.ok(bytes.length > 700_000)
    await withCaller(cut, {}, async ({ call }) => {
      assert.deepEqual(await call(false), { kind: 'document', body: document })
    })
  })

  it('returns every frame of a stream', async () => {
    await withCaller(answerStream('data: 1\n\nda', 'ta: 2\n\n', 'data: 3'), {}, async ({ call }) => {
      assert.deepEqual((await dataOf(await call())).flat(), ['1', '2', '3'])
    })
  })

  it('returns all frames of one network read together, however many HTTP chunks they were', async () => {
    const corked: Script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.cork()
      for (let at = 0; at < 20; at++) response.write(`data: ${at}\n\n`)
      response.end()
    }
    await withCaller(corked, {}, async ({ call }) => {
      assert.equal((await dataOf(await call())).length, 1)
    })
  })

  it('accepts JSON for a streaming request, and a stream with a wrong content type', async () => {
    await withCaller(answerJson({ a: 1 }), {}, async ({ upstream, call }) => {
      assert.equal((await call(true)).kind, 'document')
      upstream.answer((response) => void response.end('data: 1\n\n'))
      assert.deepEqual(await dataOf(await call(true)), [['1']])
    })
  })

  it('keeps the connection for the next call when the response is complete', async () => {
    await withCaller(stalledStream('data: end\n\n'), {}, async ({ upstream, call }) => {
      upstream.answer(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: end\n\n')
        await upstreamEnds.promise
        response.end()
      })
      const upstreamEnds = Promise.withResolvers<void>()
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      await nextFrames(answer.frames)
      answer.frames.complete()
      answer.frames.cancel()
      upstreamEnds.resolve()
      assert.equal(await upstream.requests[0]?.hungUp, false)
    })
  })

  it('delivers everything to a reader that is slower than the upstream', async () => {
    const frames = Array.from({ length: 300 }, (_, at) => `data: ${at}${' '.repeat(20_000)}\n\n`)
    const flood: Script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      Readable.from(frames).pipe(response)
    }
    await withCaller(flood, {}, async ({ call }) => {
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      const seen: number[] = []
      for (let read = await nextFrames(answer.frames); read !== undefined; read = await nextFrames(answer.frames)) {
        seen.push(...read.map((frame) => Number.parseInt(frame.data, 10)))
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.deepEqual(seen, [...frames.keys()])
    })
  })
})

const tooMuch = Buffer.from(`{"text":"${'x'.repeat(1_000_000)}`)

const longDocuments: readonly [what: string, script: Script][] = [
  [
    'with a content-length header',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '300001' })
      response.flushHeaders()
    },
  ],
  [
    'it does not say so',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(tooMuch)
    },
  ],
  [
    'it is compressed',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.write(gzipSync(tooMuch))
    },
  ],
]

describe('a call that fails', () => {
  const kinds: readonly [what: string, script: Script, kind: string, message: RegExp][] = [
    ['a 400', answerJson({ error: { message: 'bad field' } }, 400), 'validation', /^bad field$/],
    ['a 404', answerJson({ detail: 'no such model' }, 404), 'validation', /^no such model$/],
    ['a 413', answerJson({ message: 'too big' }, 413), 'too_large', /^too big$/],
    ['a 422', answerJson({ detail: [{ msg: 'one' }, { msg: 'two' }] }, 422), 'validation', /^one; two$/],
    ['an error page', answerJson('<html>not here</html>', 404), 'validation', /rejected the request \(404\)/],
    ['a 401', answerJson({ error: { message: 'key sk-1 is bad' } }, 401), 'upstream_failed', /gateway’s credentials/],
    ['a 403', answerJson({}, 403), 'upstream_failed', /gateway’s credentials/],
    ['a 408', answerJson({}, 408), 'upstream_timeout', /did not finish/],
    ['a 504', answerJson('<html>', 504), 'upstream_timeout', /did not finish/],
    ['a 429', answerJson({}, 429), 'upstream_overloaded', /overloaded/],
    ['a 529', answerJson({}, 529), 'upstream_overloaded', /overloaded/],
    ['a busy 503', answerJson({ error: 'model is overloaded' }, 503), 'upstream_overloaded', /overloaded/],
    ['a broken 503', answerJson({ error: 'no backend' }, 503), 'upstream_failed', /failed \(503\)/],
    ['a 500', answerJson({ error: 'secret stack' }, 500), 'upstream_failed', /failed \(500\)/],
    ['a redirect', answerJson({}, 302, { location: 'http://127.0.0.1:1/' }), 'upstream_failed', /failed \(302\)/],
    ['no JSON', answerJson('<html>'), 'upstream_failed', /not a JSON object/],
    ['a list', answerJson('[1]'), 'upstream_failed', /not a JSON object/],
  ]
  for (const [what, script, kind, message] of kinds) {
    it(`maps ${what} to ${kind}`, async () => {
      await withCaller(script, {}, async ({ call }) => {
        const fault = await faultOf(call(false))
        assert.equal(fault.kind, kind)
        assert.match(fault.message, message)
      })
    })
  }

  it('keeps the reason of a rejected key for the log only', async () => {
    await withCaller(answerJson({ error: { message: 'bad key' } }, 401), {}, async ({ call }) => {
      const fault = await faultOf(call())
      assert.doesNotMatch(fault.message, /bad key/)
      assert.match(String(fault.details.cause), /bad key/)
    })
  })

  it('limits the length of an upstream’s message', async () => {
    await withCaller(answerJson({ error: { message: 'x'.repeat(9_000) } }, 400), {}, async ({ call }) => {
      assert.equal((await faultOf(call())).message.length, 1000)
    })
  })

  it('forwards Retry-After', async () => {
    await withCaller(answerJson({}, 429, { 'retry-after': '17' }), {}, async ({ call }) => {
      assert.equal((await faultOf(call())).details.retryAfterSeconds, 17)
    })
  })

  it('reports a refused connection', async () => {
    await withCaller(silence, { url: 'http://127.0.0.1:9/' }, async ({ call }) => {
      const fault = await faultOf(call())
      assert.equal(fault.kind, 'upstream_failed')
      assert.equal(fault.code, 'upstream_error')
      assert.doesNotMatch(fault.message, /127/)
    })
  })

  it('throws when the connection breaks, after delivering the frames before', async () => {
    await withCaller(cutStream('data: 1\n\n'), {}, async ({ call }) => {
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      assert.deepEqual(await nextFrames(answer.frames), [{ event: undefined, data: '1' }])
      assert.equal((await faultOf(nextFrames(answer.frames))).kind, 'upstream_failed')
    })
  })

  it('rejects an endless frame and closes the connection', async () => {
    const huge = Buffer.alloc(1024 * 1024, 'x')
    const flood = stalledStream('data: ', ...Array.from({ length: 17 }, () => huge))
    await withCaller(flood, {}, async ({ upstream, call }) => {
      assert.equal((await faultOf(dataOf(await call()))).kind, 'upstream_failed')
      assert.equal(await upstream.requests[0]?.hungUp, true)
    })
  })

  it('rejects an endless stream and closes the connection', async () => {
    const frame = `data: ${'x'.repeat(60_000)}\n\n`
    const flood = stalledStream(...Array.from({ length: 10 }, () => frame))
    await withCaller(flood, { settings: { maxAnswerBytes: 65_536 } }, async ({ upstream, call }) => {
      const fault = await faultOf(dataOf(await call()))
      assert.match(fault.message, /a stream of more than 524288 bytes/)
      assert.equal(await upstream.requests[0]?.hungUp, true)
    })
  })

  for (const [what, script] of longDocuments) {
    it(`rejects a document that is too long and closes the connection: ${what}`, async () => {
      await withCaller(script, { settings: { maxAnswerBytes: 300_000 } }, async ({ upstream, call }) => {
        const fault = await faultOf(call(false))
        assert.equal(fault.kind, 'upstream_failed')
        assert.match(fault.message, /a response of more than 300000 bytes/)
        assert.equal(await upstream.requests[0]?.hungUp, true)
      })
    })
  }

  it('rejects a document with too many values and closes the connection', async () => {
    const values: Script = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"a":[${'0,'.repeat(1_000_000)}`)
    }
    await withCaller(values, {}, async ({ upstream, call }) => {
      assert.match((await faultOf(call(false))).message, /too many values/)
      assert.equal(await upstream.requests[0]?.hungUp, true)
    })
  })

  it('rejects a long document that is not JSON', async () => {
    await withCaller(answerJson('{"a":1}'.repeat(100_000)), {}, async ({ call }) => {
      assert.match((await faultOf(call(false))).message, /not a JSON object/)
    })
  })

  it('rejects a long response while others use up the memory budget', async () => {
    const memory = createAnswerMemoryBudget(500_000)
    const document = { text: 'x'.repeat(400_000) }
    await withCaller(answerJson(document), { memory }, async ({ call }) => {
      const other = memory.open()
      other.reserve(400_000)
      assert.equal((await faultOf(call(false))).kind, 'unavailable')
      other.release()
    })
  })

  it('rejects one call more than allowed, and accepts calls again when one has ended', async () => {
    await withCaller(silence, { settings: { maxConcurrent: 1 } }, async ({ upstream, call, aborter }) => {
      const first = faultOf(call())
      assert.equal((await faultOf(call())).kind, 'upstream_overloaded')
      aborter.abort()
      await first
      upstream.answer(answerJson({ ok: true }))
      assert.equal((await faultOf(call())).message, 'The call was cancelled.', 'the slot is free, the signal is not')
    })
  })
})

describe('cancelling', () => {
  it('ends the upstream call immediately, before and during the response', async () => {
    for (const script of [silence, stalledStream('data: 1\n\n')]) {
      const arrived = Promise.withResolvers<void>()
      const signalling: Script = (response, request) => {
        arrived.resolve()
        return script(response, request)
      }
      await withCaller(signalling, {}, async ({ upstream, call, aborter }) => {
        const failing = faultOf(call().then(dataOf))
        await arrived.promise
        aborter.abort()
        assert.equal((await failing).message, 'The call was cancelled.')
        assert.equal(await upstream.requests[0]?.hungUp, true)
      })
    }
  })

  it('throws the Fault that the pipeline aborted with, and wraps any other reason', async () => {
    const fault = new Fault('unavailable', 'unavailable', 'Stopping.')
    const other = new Error('not a fault')
    await withCaller(silence, {}, async ({ call, aborter }) => {
      aborter.abort(fault)
      assert.equal(await faultOf(call()), fault)
    })
    await withCaller(silence, {}, async ({ call, aborter }) => {
      aborter.abort(other)
      assert.equal((await faultOf(call())).details.cause, other)
    })
  })

  it('ends the upstream call when the reader cancels', async () => {
    await withCaller(stalledStream('data: 1\n\n'), {}, async ({ upstream, call }) => {
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      await nextFrames(answer.frames)
      answer.frames.cancel()
      assert.equal(await upstream.requests[0]?.hungUp, true)
    })
  })
})

describe('timeouts', () => {
  const limits = { connectTimeoutMs: 10, firstByteTimeoutMs: 100, idleTimeoutMs: 1_000, timeoutMs: 5_000 }

  it('limits the wait for the first byte', async () => {
    const { clock, advance } = createHandClock()
    const arrived = Promise.withResolvers<void>()
    const signalling: Script = () => arrived.resolve()
    await withCaller(signalling, { clock, settings: limits }, async ({ upstream, call }) => {
      const failing = faultOf(call())
      await arrived.promise
      advance(99)
      advance(1)
      const fault = await failing
      assert.equal(fault.kind, 'upstream_timeout')
      assert.match(fault.message, /did not start/)
      assert.equal(await upstream.requests[0]?.hungUp, true)
    })
  })

  it('limits idle time since the last byte, and only while a reader waits', async () => {
    const { clock, advance } = createHandClock()
    await withCaller(stalledStream('data: 1\n\n'), { clock, settings: limits }, async ({ call }) => {
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      await nextFrames(answer.frames)
      answer.frames.markStarted()
      advance(1_500)
      const failing = faultOf(nextFrames(answer.frames))
      advance(999)
      advance(1)
      assert.match((await failing).message, /sent no data/)
    })
  })

  it('limits the wait for a response that sends only headers, comments and pings', async () => {
    for (const pings of [[], [': ping\n\n'], ['\n\n'], ['event: ping\ndata: {"type":"ping"}\n\n']]) {
      const { clock, advance } = createHandClock()
      await withCaller(stalledStream(...pings), { clock, settings: limits }, async ({ upstream, call }) => {
        const answer = await call()
        if (answer.kind !== 'stream') assert.fail('not a stream')
        advance(99)
        if (pings.length > 0) await nextOf<readonly SseFrame[]>(answer.frames)
        const failing = faultOf(nextFrames(answer.frames))
        advance(1)
        assert.match((await failing).message, /did not start/)
        assert.equal(await upstream.requests[0]?.hungUp, true)
      })
    }
  })

  it('limits the wait for a document that sends only headers and white space', async () => {
    const { clock, advance } = createHandClock()
    const sent = Promise.withResolvers<void>()
    const blank: Script = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(' \n', () => sent.resolve())
    }
    await withCaller(blank, { clock, settings: limits }, async ({ call }) => {
      const failing = faultOf(call(false))
      await sent.promise
      await new Promise((resolve) => setImmediate(resolve))
      advance(100)
      assert.match((await failing).message, /did not start/)
    })
  })

  it('counts pings as activity once the response has started', async () => {
    const { clock, advance } = createHandClock()
    const pings: Script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      await pinging.promise
      response.write(': ping\n\n')
    }
    const pinging = Promise.withResolvers<void>()
    await withCaller(pings, { clock, settings: limits }, async ({ call }) => {
      const answer = await call()
      if (answer.kind !== 'stream') assert.fail('not a stream')
      await nextFrames(answer.frames)
      answer.frames.markStarted()
      advance(999)
      pinging.resolve()
      assert.deepEqual(await nextOf<readonly SseFrame[]>(answer.frames), [])
      const failing = faultOf(nextFrames(answer.frames))
      advance(999)
      advance(1)
      assert.match((await failing).message, /sent no data/)
    })
  })

  it('limits the whole call', async () => {
    const { clock, advance } = createHandClock()
    await withCaller(
      stalledStream('data: 1\n\n'),
      { clock, settings: { ...limits, idleTimeoutMs: 9_000 } },
      async ({ call }) => {
        const answer = await call()
        const failing = faultOf(dataOf(answer))
        advance(5_000)
        assert.match((await failing).message, /did not finish/)
      },
    )
  })

  it('leaves no timer running', async () => {
    const { clock, waiting } = createHandClock()
    await withCaller(answerStream('data: 1\n\n'), { clock, settings: limits }, async ({ call }) => {
      await dataOf(await call())
      assert.equal(waiting(), 0)
    })
  })
})
