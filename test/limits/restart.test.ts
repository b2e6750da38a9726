import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { limitUsageStore } from '../../src/adapters/stores/sql/limit-usage.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { persistUsage, type UsageStore } from '../../src/domain/limits/persisted-usage.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { repeat } from '../../src/base/clock.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { engines } from '../support/engines.ts'
import { startTestApp } from '../support/app.ts'
import { limitSettings as settings } from '../support/limit-settings.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const hourMs = 3_600_000
const subject = { organization: 'org', project: 'project', key: 'key' }

/** A database that outlives its processes, and a clock for all of them. */
async function openScene() {
  const database = await (engines[0] ?? assert.fail()).open()
  const { clock, pass } = createHandClock()
  await pass(1_000_000 * hourMs)
  const errors: unknown[] = []
  /** A process with a limit of ten for each window. */
  const start = async () => {
    const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch: 'life', settings, tracksChanges: true })
    const store = limitUsageStore(database)
    const usage = await persistUsage({ store, engine, clock })
    const noteError = (error: unknown): void => void errors.push(error)
    const saving = repeat(clock, () => usage.save().catch(noteError), 1_000)
    const removing = repeat(clock, () => usage.removeOld().catch(noteError), hourMs)
    const stop = async (): Promise<void> => {
      saving[Symbol.dispose]()
      removing[Symbol.dispose]()
      await usage.saveAll()
    }
    let count = 0
    const limits = (metric: 'rpm' | 'rpd' | 'tpd', most: number) => ({
      key: unlimited,
      project: unlimited,
      organization: { ...unlimited, [metric]: most },
    })
    const send = (metric: 'rpm' | 'rpd' | 'tpd', most = 10) =>
      engine.admit({
        ...subject,
        limits: limits(metric, most),
        mode: 'full',
        requestId: `request_${++count}`,
        tokens: 1,
        micro: null,
      })
    return { engine, stop, send }
  }
  const close = async (): Promise<void> => database[Symbol.asyncDispose]()
  return { start, pass, clock, database, errors, [Symbol.asyncDispose]: close }
}

describe('an embedded server that is restarted', () => {
  it('has the same minute and day windows as when it was stopped', async () => {
    await using scene = await openScene()
    const first = await scene.start()
    for (let count = 0; count < 4; count++) first.send('rpd')
    await scene.pass(2 * hourMs)
    for (let count = 0; count < 3; count++) first.send('rpd')
    await first.stop()

    const second = await scene.start()
    assert.deepEqual(second.send('rpm').limitStatus.organization.rpm, { limit: 10, remaining: 6, resetMs: 61_000 })
    assert.equal(second.send('tpd').limitStatus.organization.tpd?.remaining, 1)
    await scene.pass(23 * hourMs) // the first four have left the window
    assert.equal(second.send('rpd').limitStatus.organization.rpd?.remaining, 4)
  })

  it('has the same windows after it was killed, except for the last second', async () => {
    await using scene = await openScene()
    const first = await scene.start()
    for (let count = 0; count < 4; count++) first.send('rpd')
    await scene.pass(1_000)
    await scene.database.read('select 1 as one') // queued after the save
    first.send('rpd')
    const second = await scene.start()
    assert.equal(second.send('rpd').limitStatus.organization.rpd?.remaining, 5)
  })

  it('saves a bounded number of scopes at a time, those that wait longest first, and all at shutdown', async () => {
    const { clock } = createHandClock()
    const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch: 'life', settings, tracksChanges: true })
    const saves: string[][] = []
    const store: UsageStore = {
      load: async () => [],
      save: async (usages) => void saves.push(usages.map(({ organization }) => organization)),
      async removeBefore() {},
    }
    const usage = await persistUsage({ store, engine, clock })
    const limits = { key: unlimited, project: unlimited, organization: unlimited }
    const send = (organization: string) => engine.admit({ ...subject, organization, limits, mode: 'count' })
    for (let count = 0; count < 500; count++) send(`org_${count}`) // each has three scopes
    await usage.save()
    send('org_0')
    await usage.save()
    await usage.saveAll()
    assert.deepEqual(
      saves.map((names) => [names.length, names[0], names.at(-1)]),
      [
        [500, 'org_0', 'org_166'],
        [500, 'org_166', 'org_333'],
        [503, 'org_333', 'org_0'],
      ],
    )
  })

  it('keeps usage that could not be saved, and saves it with the next', async () => {
    await using scene = await openScene()
    const first = await scene.start()
    await scene.database.write([{ sql: 'alter table limit_use rename to moved' }])
    first.send('rpd')
    await scene.pass(1_000)
    while (scene.errors.length === 0) await new Promise(setImmediate)
    await scene.database.write([{ sql: 'alter table moved rename to limit_use' }])
    await first.stop()
    const second = await scene.start()
    assert.equal(second.send('rpd').limitStatus.organization.rpd?.remaining, 8)
  })

  it('ignores and removes usage that has left every window', async () => {
    await using scene = await openScene()
    const first = await scene.start()
    first.send('rpd')
    await first.stop()
    await scene.pass(25 * hourMs)
    const second = await scene.start()
    assert.equal(second.engine.size.scopes, 0)
    await scene.pass(hourMs)
    while ((await scene.database.read('select 1 as one from limit_use')).length > 0) await new Promise(setImmediate)
  })

  it('rejects over HTTP the same request as before the restart', async () => {
    await using folder = await temporaryFolder()
    const free = { rpm: 0, rpd: 3, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
    const storage = { data_dir: folder.path }
    const config = { limits: { tiers: { free } } }
    const question = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    let authorization: string
    {
      await using first = await startTestApp({ storage, config })
      authorization = `Bearer ${first.apiKey}`
      for (let count = 0; count < 3; count++) assert.equal((await first.post('/v1/messages', question)).status, 200)
    }
    await using second = await startTestApp({ storage, config, isFirst: false })
    const answer = await second.post('/v1/messages', question, { authorization })
    assert.equal(answer.status, 429)
    assert.match(await answer.text(), /requests a day/)
  })
})
