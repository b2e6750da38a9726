import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { systemClock } from '../../../base/clock.ts'
import { categories } from '../../../domain/scan/classify/categories.ts'
import {
  runtimeThatDiesOn,
  runtimeThatHangsOn,
  runtimeThatGives,
  writeEncoderPackage,
  type EncoderPackageChanges,
} from '../../../../test/support/encoder-package.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { EncoderUnavailable } from '../../../domain/scan/classify/encoder.ts'
import { openEncoder, type EncoderParts, type ThreadedEncoder } from './encoder.ts'
import { problemOf as problemOfStatus, type EncoderStatus } from './thread.ts'

const timeout = 120_000
const [start, end] = [2, 3]
const ids = { hello: 4, world: 5, good: 6, morning: 7, crash: 11 }

type Cleanup = { after(close: () => PromiseLike<void>): void }

/** Opens the package of the tests and waits until its model is loaded or cannot be. */
async function open(test: Cleanup, changes: EncoderPackageChanges = {}, parts: Partial<EncoderParts> = {}) {
  const folder = await writeEncoderPackage(changes)
  const opened = await openEncoder({ clock: systemClock, packageName: folder.name, ...parts })
  test.after(() => folder[Symbol.asyncDispose]())
  assert.ok('encoder' in opened, JSON.stringify(opened))
  test.after(() => opened.encoder[Symbol.asyncDispose]())
  await opened.encoder.started()
  return opened.encoder
}

async function problemOf(test: Cleanup, change: (pathOf: (file: string) => string) => void): Promise<string> {
  const folder = await writeEncoderPackage()
  test.after(() => folder[Symbol.asyncDispose]())
  change(folder.pathOf)
  const opened = await openEncoder({ clock: systemClock, packageName: folder.name })
  if ('problem' in opened) return opened.problem.code
  await using encoder = opened.encoder
  const status = await encoder.started()
  return status.state === 'off' ? status.problem.code : status.state
}

/** What the model of the tests gives for these word pieces. */
const sumOf = (pieces: readonly number[]): number => pieces.reduce((sum, id) => sum + id, start + end)

async function assertSexual(encoder: ThreadedEncoder, text: string, expected: number): Promise<void> {
  const { sexual } = await encoder.score(text)
  assert.ok(Math.abs(sexual - expected) < 1e-4, `${sexual} instead of ${expected}`)
}

const unavailable =
  (reason: EncoderUnavailable['reason']) =>
  (error: unknown): boolean =>
    error instanceof EncoderUnavailable && error.reason === reason

describe('the encoder', { timeout }, () => {
  const opened = new AsyncDisposableStack()
  const durations: number[] = []
  let encoder: ThreadedEncoder
  before(async () => {
    encoder = await open({ after: (close) => opened.defer(close) }, {}, { onScored: (each) => durations.push(each) })
  })
  after(() => opened.disposeAsync())

  it('gives the logits of a text, each in its category', async () => {
    const logits = await encoder.score('Hello world')
    assert.deepEqual(Object.keys(logits).sort(), [...categories].sort())
    const order = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'sexual/minors'] as const
    for (const [at, category] of order.entries()) {
      const expected = sumOf([ids.hello, ids.world]) + 4 * (at / 10)
      assert.ok(Math.abs(logits[category] - expected) < 1e-4, `${category} ${logits[category]} ${expected}`)
    }
  })

  it('has the identity and the stack that its package describes', () => {
    assert.deepEqual([encoder.identity.id, encoder.identity.version], ['encoder', 'test'])
    assert.match(encoder.identity.digest, /^[0-9a-f]{64}$/)
    assert.equal(encoder.stack.categories.hate.askFrom, -3)
    assert.deepEqual(encoder.status(), { state: 'ready' })
  })

  it('reads the words behind disguises', async () => {
    await assertSexual(encoder, 'h3ll0 w o r l d', sumOf([ids.hello, ids.world]))
  })

  it('gives the highest logits of all windows of a long text', async () => {
    // Windows of four pieces, and three from one to the next: the last two of eight are read with the two before.
    const text = 'hello hello hello hello good good world world'
    const windows = [sumOf([4, 4, 4, 4]), sumOf([4, 6, 6, 5]), sumOf([6, 6, 5, 5])]
    await assertSexual(encoder, text, Math.max(...windows))
  })

  for (const [title, text, pieces] of [
    ['an empty text', '', []],
    ['a text of emoji only', '😀😀 👍🏽', []],
    ['a lone surrogate', 'hello \ud800', [ids.hello]],
    ['control characters', '\u0000\u0007hello\u200b', [ids.hello]],
  ] as const) {
    it(`reads ${title}`, () => assertSexual(encoder, text, sumOf(pieces)))
  }

  it('reads a text of 8 KiB', async () => {
    await assertSexual(encoder, 'good '.repeat(1_640).slice(0, 8 * 1024 - 2), sumOf([6, 6, 6, 6]))
  })

  it('answers many texts at once, each with its own logits', async () => {
    durations.length = 0
    const words = Object.keys(ids) as (keyof typeof ids)[]
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => words[at % words.length] ?? 'hello').map((word) =>
        assertSexual(encoder, word, sumOf([ids[word]])),
      ),
    )
    assert.equal(durations.length, 40)
    assert.equal(encoder.queued(), 0)
  })
})

describe('the queue of the encoder', { timeout }, () => {
  it('rejects a text at once if too much text waits, and accepts one later', async (t) => {
    const encoder = await open(t, {}, { maxQueuedCharacters: 10 })
    const accepted = [encoder.score('hello'), encoder.score('hello'), encoder.score('hello')]
    assert.equal(encoder.queued(), 3)
    await assert.rejects(encoder.score('a'), unavailable('busy'))
    await Promise.all(accepted)
    await assertSexual(encoder, 'hello', sumOf([ids.hello]))
  })

  it('rejects texts when its share of the processor is used up, urgent ones last', async (t) => {
    const { clock, advance } = createHandClock()
    const encoder = await open(t, {}, { clock, cpuPercent: 10 })
    const scoreAs = (isUrgent: boolean) => encoder.score('hello '.repeat(2_000), { isUrgent, organizationId: 'org_1' })
    const until = async (isUrgent: boolean): Promise<void> => {
      for (;;) {
        const outcome = await scoreAs(isUrgent).then(
          () => 'read',
          (error: unknown) => error,
        )
        if (outcome === 'read') continue
        assert.ok(unavailable('over_share')(outcome), String(outcome))
        return
      }
    }
    await until(false)
    await scoreAs(true)
    await until(true)
    advance(60_000)
    await scoreAs(false)
  })

  it('rejects a text whose signal is aborted before it is read, and does not read it', async (t) => {
    let scored = 0
    const encoder = await open(t, {}, { onScored: () => scored++ })
    const abort = new AbortController()
    const first = encoder.score('hello')
    const second = encoder.score('world', undefined, abort.signal)
    const third = encoder.score('good')
    abort.abort(new Error('late'))
    await assert.rejects(second, /late/)
    await Promise.all([first, third])
    assert.equal(scored, 2)
    await assert.rejects(encoder.score('hello', undefined, abort.signal), /late/)
  })

  it('rejects a text whose signal is aborted while it is read, and answers the next', async (t) => {
    const encoder = await open(t)
    const abort = new AbortController()
    const first = encoder.score('hello '.repeat(2_500), undefined, abort.signal)
    abort.abort(new Error('late'))
    await assert.rejects(first, /late/)
    await assertSexual(encoder, 'world', sumOf([ids.world]))
    assert.equal(encoder.queued(), 0)
  })

  it('rejects all texts when it is closed', async (t) => {
    const encoder = await open(t)
    const pending = [encoder.score('hello'), encoder.score('world')].map((each) =>
      assert.rejects(each, unavailable('closed')),
    )
    await encoder[Symbol.asyncDispose]()
    await Promise.all(pending)
    await assert.rejects(encoder.score('hello'), unavailable('closed'))
  })
})

describe('the thread of the encoder', { timeout }, () => {
  it('loads its model for the first text, and rejects texts until then', async (t) => {
    const folder = await writeEncoderPackage()
    t.after(() => folder[Symbol.asyncDispose]())
    const opened = await openEncoder({ clock: systemClock, packageName: folder.name })
    assert.ok('encoder' in opened)
    await using encoder = opened.encoder
    assert.deepEqual(encoder.status(), { state: 'idle' })
    await assert.rejects(encoder.score('hello'), unavailable('starting'))
    assert.deepEqual(encoder.status(), { state: 'starting' })
    await encoder.started()
    await assertSexual(encoder, 'hello', sumOf([ids.hello]))
  })

  it('rejects its texts when it dies, and is started again after a pause that grows', async (t) => {
    const { clock, advance } = createHandClock()
    const states = createStates()
    const changes = { loadRuntime: runtimeThatDiesOn(ids.crash) }
    const encoder = await open(t, changes, { clock, onStatus: states.add })
    await states.next('ready')
    for (const pauseMs of [1_000, 2_000]) {
      const texts = ['crash', 'hello'].map((text) => assert.rejects(encoder.score(text), unavailable('died')))
      await Promise.all(texts)
      assert.deepEqual(encoder.status(), { state: 'restarting' })
      await assert.rejects(encoder.score('hello'), unavailable('died'))
      advance(pauseMs - 1)
      assert.deepEqual(encoder.status(), { state: 'restarting' })
      advance(1)
      assert.deepEqual(encoder.status(), { state: 'starting' })
      await states.next('ready')
    }
    await assertSexual(encoder, 'hello', sumOf([ids.hello]))
    await assert.rejects(encoder.score('crash'), unavailable('died'))
    advance(1_000) // the pause is short again after an answer
    await states.next('ready')
  })

  it('is started again if it gives no answer for ten seconds', async (t) => {
    const { clock, advance } = createHandClock()
    const states = createStates()
    const encoder = await open(t, { loadRuntime: runtimeThatHangsOn(ids.crash) }, { clock, onStatus: states.add })
    await states.next('ready')
    const texts = ['crash', 'hello'].map((text) => assert.rejects(encoder.score(text), /no answer for 10 seconds/))
    advance(9_999)
    assert.deepEqual(encoder.status(), { state: 'ready' })
    advance(1)
    await Promise.all(texts)
    await assert.rejects(encoder.score('hello'), unavailable('died'))
    advance(1_000)
    await states.next('ready')
    await assertSexual(encoder, 'hello', sumOf([ids.hello]))
    advance(10_000)
    assert.deepEqual([encoder.status(), encoder.queued()], [{ state: 'ready' }, 0])
  })

  it('is reported if it ends while it loads the model', async (t) => {
    const { clock } = createHandClock()
    const encoder = await open(t, { loadRuntime: 'process.exit(7)' }, { clock })
    assert.equal(problemOfStatus(await encoder.started())?.code, 'not_started')
  })

  it('is not started again after it was closed', async (t) => {
    const { clock, waiting } = createHandClock()
    const encoder = await open(t, { loadRuntime: runtimeThatDiesOn(ids.crash) }, { clock })
    await assert.rejects(encoder.score('crash'), unavailable('died'))
    assert.equal(waiting(), 1)
    await encoder[Symbol.asyncDispose]()
    assert.equal(waiting(), 0)
    assert.deepEqual(encoder.status(), { state: 'closed' })
  })

  for (const [title, logits] of [
    ['no numbers', '({ logits: { data: new Float32Array(7).fill(NaN) } })'],
    ['too few numbers', '({ logits: { data: new Float32Array(3) } })'],
    ['no logits', '({})'],
  ] as const) {
    it(`rejects a text for which the model gives ${title}`, async (t) => {
      const encoder = await open(t, { loadRuntime: runtimeThatGives(logits) })
      await assert.rejects(encoder.score('hello'), unavailable('failed'))
      assert.deepEqual(encoder.status(), { state: 'ready' })
    })
  }
})

describe('a missing or damaged encoder', { timeout }, () => {
  it('is reported if the package is not installed', async () => {
    const opened = await openEncoder({ clock: systemClock, packageName: 'gatehouse-not-installed' })
    assert.ok('problem' in opened)
    assert.equal(opened.problem.code, 'package_missing')
  })

  it('is reported if encoder.json is missing', async (t) =>
    assert.equal(await problemOf(t, (pathOf) => rmSync(pathOf('encoder.json'))), 'package_incomplete'))

  it('is reported if the model is missing', async (t) =>
    assert.equal(await problemOf(t, (pathOf) => rmSync(pathOf('model.onnx'))), 'package_incomplete'))

  it('is reported if the model was changed', async (t) =>
    assert.equal(await problemOf(t, (pathOf) => appendFileSync(pathOf('model.onnx'), 'x')), 'wrong_digest'))

  it('is reported if there are weights beside the model that are not part of it', async (t) =>
    assert.equal(await problemOf(t, (pathOf) => appendFileSync(pathOf('model.onnx.data'), 'x')), 'wrong_digest'))

  it('is reported if the run time is not installed', async (t) => {
    const encoder = await open(t, { loadRuntime: "return await import('onnxruntime-not-installed')" })
    const status = encoder.status()
    assert.ok(status.state === 'off')
    assert.equal(status.problem.code, 'runtime_missing')
    assert.match(status.problem.message, /onnxruntime-not-installed/)
    await assert.rejects(encoder.score('hello'), unavailable('off'))
  })

  for (const [title, description, message] of [
    ['encoder.json has another format', { windowTokens: 'many' }, /windowTokens/],
    ['its windows leave out a part of the text', { strideTokens: 5 }, /leave out/],
  ] as const) {
    it(`is reported if ${title}`, async (t) => {
      const folder = await writeEncoderPackage({ description })
      t.after(() => folder[Symbol.asyncDispose]())
      const opened = await openEncoder({ clock: systemClock, packageName: folder.name })
      assert.ok('problem' in opened)
      assert.equal(opened.problem.code, 'unsupported')
      assert.match(opened.problem.message, message)
    })
  }
})

/** Runs a script in a process of its own, with an encoder that is ready and an empty home folder. Rejects unless it ends with 0. */
async function runScript(test: Cleanup, packageName: string, code: string) {
  const folder = await temporaryFolder()
  const home = await temporaryFolder()
  for (const each of [folder, home]) test.after(() => each[Symbol.asyncDispose]())
  const script = `
    import { openEncoder } from '${import.meta.resolve('./encoder.ts')}'
    import { systemClock } from '${import.meta.resolve('../../../base/clock.ts')}'
    const { encoder } = await openEncoder({ clock: systemClock, packageName: '${packageName}' })
    await encoder.started()
    ${code}`
  const file = join(folder.path, 'script.mjs')
  writeFileSync(file, script)
  const env = { HOME: home.path, XDG_CACHE_HOME: home.path, TMPDIR: home.path }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  return { stdout, written: readdirSync(home.path) }
}

describe('the run time of the encoder', { timeout }, () => {
  it('writes no file, and so collects no usage data', async (t) => {
    const folder = await writeEncoderPackage()
    t.after(() => folder[Symbol.asyncDispose]())
    const code =
      "await encoder.score('hello')\nawait encoder[Symbol.asyncDispose]()\nconsole.log(encoder.status().state)"
    assert.deepEqual(await runScript(t, folder.name, code), { stdout: 'closed\n', written: [] })
  })
})

if (existsSync('packages/moderation-encoder/model.onnx')) {
  describe('the shipped encoder', { timeout }, () => {
    it('is loaded from its package, and gives the same logits for the same text', async () => {
      const opened = await openEncoder({ clock: systemClock })
      assert.ok('encoder' in opened, JSON.stringify(opened))
      await using encoder = opened.encoder
      assert.deepEqual(await encoder.started(), { state: 'ready' })
      const text = 'The recipe needs two cups of flour and a little patience.'
      assert.deepEqual(await encoder.score(text), await encoder.score(text))
    })

    for (const [title, ending] of [
      ['the process exits', "process.exit(encoder.status().state === 'ready' ? 0 : 1)"],
      ['it is closed', 'await encoder[Symbol.asyncDispose]()'],
    ] as const) {
      it(`does not end the process with an error if ${title} while native code runs`, async (t) => {
        // The pause only makes it likely that native code runs. Without it the test would pass for another reason.
        const code = `
          encoder.score('plain words '.repeat(600)).catch(() => {})
          await new Promise((resolve) => setTimeout(resolve, 60))
          ${ending}`
        await runScript(t, import.meta.resolve('gatehouse-moderation-encoder'), code)
      })
    }
  })
}

/** Waits for changes of the status, also for one that has come already. */
function createStates() {
  const seen: EncoderStatus['state'][] = []
  let notify = (): void => {}
  return {
    add({ state }: EncoderStatus): void {
      seen.push(state)
      notify()
    },
    /** Resolves when the state comes next, and forgets what came before it. */
    async next(state: EncoderStatus['state']): Promise<void> {
      while (!seen.includes(state)) await new Promise<void>((resolve) => (notify = resolve))
      seen.splice(0, seen.indexOf(state) + 1)
    },
  }
}
