import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSamples, removeSamples } from '../../src/adapters/stores/sql/audit/replay-sample.ts'
import { auditTexts } from '../../src/adapters/stores/sql/audit/texts.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { countEncrypted, encryptAgain } from '../../src/adapters/stores/sql/secret-rotation.ts'
import { createStoredEncryptions } from '../../src/app/storage/secret-rotation.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { AuditEvent } from '../../src/domain/audit/event/event.ts'
import { createReplaySampler, type ReplaySampler } from '../../src/domain/audit/replay-sample.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import { openAuditLog } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const hourMs = 3_600_000
const encryptionsOf = (current: string, previous?: string) =>
  createStoredEncryptions(createKeyring({ current, ...(previous !== undefined && { previous }) }), systemRandom)
const encryption = encryptionsOf('one').replaySample

/** The contract of the replay sample on every engine. */
export function replaySampleContract({ name, skip, open }: Engine): void {
  describe(`the replay sample: ${name}`, { skip }, () => {
    it('holds the requests with the lowest positions of an hour, whichever node they reached', async () => {
      await using scene = await openScene(open)
      const fractions = Array.from({ length: 60 }, (_, at) => ((at * 37) % 61) / 61)
      const nodes = [0, 1].map((node) =>
        samplerOf(
          5,
          fractions.filter((_, at) => at % 2 === node),
        ),
      )
      for (const [at] of fractions.entries()) await scene.request(`req_${at}`, nodes[at % 2])
      assert.deepEqual(await scene.positions(), lowest(fractions, 5))
      scene.log.clock.passMs(hourMs)
      for (let at = 0; at < 7; at++) await scene.request(`later_${at}`, samplerOf(5, [at / 10]))
      assert.deepEqual(await scene.positions(), [...lowest(fractions, 5), ...lowest([0, 0.1, 0.2, 0.3, 0.4], 5)])
    })

    it('is encrypted, and read only with its event and organization', async () => {
      await using scene = await openScene(open)
      await scene.request('req_1', samplerOf(5, [0.5]))
      const texts = { prompt: 'user: Größe 😀 of req_1', response: 'Hello' }
      assert.deepEqual(await scene.samples([1, 2]), [[1, texts]])
      assert.deepEqual(await scene.samples([1], 'org_2'), [])
      const [row] = await scene.database.read<{ sealed: Uint8Array }>('select sealed from replay_sample')
      assert.doesNotMatch(Buffer.from(row?.sealed ?? []).toString(), /req_1|Hello/)
      await scene.database.write([{ sql: "update replay_sample set event_id = 'evt_other'" }])
      assert.deepEqual(await scene.samples([1]), [])
    })

    it('waits on the disk of a node without its text, and is written once', async () => {
      await using scene = await openScene(open)
      const event = scene.eventOf('req_1', samplerOf(5, [0.5]))
      assert.doesNotMatch(JSON.stringify(event), /of req_1|Hello/)
      for (const mayRepeat of [false, true])
        await scene.log.appender.append('org_1', [JSON.parse(JSON.stringify(event))], mayRepeat)
      assert.deepEqual(
        (await scene.samples([1, 2])).map(([sequence, { response }]) => [sequence, response]),
        [[1, 'Hello']],
      )
    })

    it('is no content of the event, and the audit log is verified with it', async () => {
      await using scene = await openScene(open)
      await scene.request('req_1', samplerOf(5, [0.5]))
      const found = await scene.log.reads.findRequest('org_1', 'req_1')
      assert.deepEqual([found?.content, found?.document.unmapped.gatehouse['content_digest']], [undefined, undefined])
      assert.equal((await scene.log.verify()).finding, undefined)
    })

    it('is erased with the other texts of a request', async () => {
      await using scene = await openScene(open)
      for (const id of ['req_1', 'req_2']) await scene.request(id, samplerOf(5, [0.5]))
      const erase = (organizationId: string) =>
        scene.database.transaction((tx) => auditTexts(tx).erase(organizationId, 'req_1'))
      assert.deepEqual([await erase('org_2'), await erase('org_1'), await erase('org_1')], [0, 1, 0])
      assert.deepEqual(
        (await scene.samples([1, 2])).map(([sequence]) => sequence),
        [2],
      )
    })

    it('is removed hour by hour', async () => {
      await using scene = await openScene(open)
      const startMs = scene.log.clock.nowMs()
      for (const id of ['req_1', 'req_2', 'req_3']) {
        await scene.request(id, samplerOf(5, [0.5]))
        scene.log.clock.passMs(hourMs)
      }
      await removeSamples(scene.database, startMs + 2 * hourMs)
      assert.deepEqual(
        (await scene.samples([1, 2, 3])).map(([sequence]) => sequence),
        [3],
      )
    })

    it('is encrypted again when the server secret is rotated', async () => {
      await using scene = await openScene(open)
      await scene.request('req_1', samplerOf(5, [0.5]))
      const rotated = encryptionsOf('two', 'one')
      assert.deepEqual(await countEncrypted(scene.database, rotated), { otherSecret: 1, unreadable: 0 })
      await encryptAgain(scene.database, rotated)
      const after = encryptionsOf('two')
      assert.deepEqual(await countEncrypted(scene.database, after), { otherSecret: 0, unreadable: 0 })
      const [sample] = await scene.samples([1], 'org_1', after.replaySample)
      assert.equal(sample?.[1].response, 'Hello')
      assert.deepEqual(await scene.samples([1]), [], 'the secret of before reads nothing')
    })
  })
}

/** Draws these fractions, one after the other. */
function samplerOf(perHour: number, fractions: readonly number[]): ReplaySampler {
  const left = [...fractions]
  return createReplaySampler({ perHour, encryption, random: { fraction: () => left.shift() ?? assert.fail() } })
}

const lowest = (fractions: readonly number[], count: number): number[] =>
  fractions
    .toSorted((a, b) => a - b)
    .slice(0, count)
    .map((fraction) => Math.floor(fraction * 2 ** 48))

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const log = await openAuditLog(database)
  const query: Transaction['query'] = (sql, params) => database.read(sql, params)
  let count = 0
  const eventOf = (requestId: string, sampler: ReplaySampler | undefined): AuditEvent => {
    const [organizationId, atMs, eventId] = ['org_1', log.clock.nowMs(), `evt_${++count}`]
    const position = sampler?.draw(organizationId, atMs)
    const texts = () => ({ prompt: `user: Größe 😀 of ${requestId}`, response: 'Hello' })
    const sample =
      position === undefined ? undefined : sampler?.seal({ organizationId, eventId, atMs, position }, texts)
    const facts = {
      code: 'gateway.request.decided' as const,
      organizationId,
      timeMs: atMs,
      message: '',
      requestId,
      sample,
    }
    return log.events.makeEvent(facts, eventId)
  }
  return {
    database,
    log,
    eventOf,
    request: (...of: Parameters<typeof eventOf>) => log.appender.append('org_1', [eventOf(...of)]),
    async positions() {
      const rows = await database.read<{ position: number }>(
        'select position from replay_sample order by hour, position',
      )
      return rows.map(({ position }) => position)
    },
    samples: async (sequences: readonly number[], organizationId = 'org_1', decryption = encryption) => [
      ...(await readSamples({ query }, decryption, { organizationId, sequences })),
    ],
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
