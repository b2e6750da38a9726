import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { alertFigures } from '../../src/adapters/stores/sql/alerts/figures.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { decisionCounts } from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { minuteMs, toUnixSeconds } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { chargeOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'

const key = (credentialId: string) => ({ actor: { credentialId } })
const failure = (code: string) => ({ failure: { code } })

/** The figures that alert rules compare, on every engine. */
export function alertFiguresContract({ name, skip, open }: Engine): void {
  describe(`figures of alert rules: ${name}`, { skip }, () => {
    it('count requests, denials and failures of an organization, a project, a key and a policy, folded or not', async () => {
      await using database = await open()
      const { clock, append } = await openAuditLog(database)
      const ids = createIds(clock, systemRandom)
      const figures = alertFigures(database, clock)
      await append(4, key('key_1'))
      await append(2, { ...key('key_1'), ...failure('upstream_timeout') })
      await append(1, { ...key('key_2'), projectId: 'proj_2', ...failure('internal_error') })
      // Neither rate limits nor mistakes of the caller are failures.
      await append(3, { ...key('key_2'), ...failure('rate_limit_exceeded') })
      await append(1, { ...key('key_2'), ...failure('context_length_exceeded') })
      await append(2, { ...key('key_2'), verdict: { decision: 'refuse', isEnforced: true } })
      await append(9, failure('upstream_error'), 'org_2')
      await decisionCounts(database, ids).add({
        callers: [],
        minutes: [
          {
            organizationId: 'org_1',
            subject: 'pol_1',
            version: 3,
            minute: Math.floor(clock.nowMs() / minuteMs),
            requests: 8,
            denials: 5,
            recordedRequests: 1,
            recordedDenials: 1,
          },
        ],
      })
      const to = toUnixSeconds(clock.nowMs()) + 1
      const period = { from: to - 900, to }
      const read = async () => [
        await figures.requests('org_1', period, null),
        await figures.requests('org_1', period, { name: 'project_id', id: 'proj_2' }),
        await figures.requests('org_1', period, { name: 'api_key_id', id: 'key_1' }),
        await figures.requests('org_1', period, { name: 'policy_id', id: 'pol_1' }),
        await figures.requests('org_1', { from: to - 9_000, to: to - 900 }, null),
      ]
      const expected = [
        { requests: 13, denials: 2, failures: 3 },
        { requests: 1, denials: 0, failures: 1 },
        { requests: 6, denials: 0, failures: 2 },
        { requests: 8, denials: 5, failures: 0 },
        { requests: 0, denials: 0, failures: 0 },
      ]
      assert.deepEqual(await read(), expected)
      await foldStoredDeltas(database)
      assert.deepEqual(await read(), expected)
    })

    it('sum up spending of an organization, a project and a key', async () => {
      await using database = await open()
      const { clock } = await openAuditLog(database)
      const ids = createIds(clock, systemRandom)
      const ledger = ledgerStore(database, { ids, clock })
      const charges = [
        { micro: 5, projectId: 'proj_1', keyId: 'key_1' },
        { micro: 7, projectId: 'proj_1', keyId: 'key_2' },
        { micro: 11, projectId: 'proj_2', keyId: 'key_3' },
      ]
      for (const { micro, ...fields } of charges)
        await ledger.settle({ ...chargeOf(ids('req'), micro, null), ...fields, atMs: clock.nowMs() })
      const to = toUnixSeconds(clock.nowMs()) + 1
      const period = { from: to - 3_600, to }
      const { spent } = alertFigures(database, clock)
      assert.equal(await spent('org_1', period, null), 23)
      assert.equal(await spent('org_1', period, { name: 'project_id', id: 'proj_1' }), 12)
      assert.equal(await spent('org_1', period, { name: 'api_key_id', id: 'key_3' }), 11)
      assert.equal(await spent('org_2', period, null), 0)
    })

    it('count the requests and tokens of each key', async () => {
      await using database = await open()
      const { clock, append } = await openAuditLog(database)
      const model = { provider: 'local', name: 'm', inputTokens: 10, outputTokens: 5 }
      await append(2, { ...key('key_1'), model })
      await append(1, { ...key('key_2'), model })
      const to = toUnixSeconds(clock.nowMs()) + 1
      assert.deepEqual(await alertFigures(database, clock).keys('org_1', { from: to - 60, to }), [
        { keyId: 'key_1', requests: 2, tokens: 30 },
        { keyId: 'key_2', requests: 1, tokens: 15 },
      ])
    })
  })
}
