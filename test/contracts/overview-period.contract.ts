import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { ledgerReports } from '../../src/adapters/stores/sql/credits/reports.ts'
import { decisionCounts } from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { subjectSums } from '../../src/adapters/stores/sql/rollup/subject-sums.ts'
import { trafficStore } from '../../src/adapters/stores/sql/rollup/traffic.ts'
import { minuteMs, toUnixSeconds } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { readKeyUse } from '../../src/domain/overview/key-use.ts'
import { periodBefore, readFigures, readSteps } from '../../src/domain/overview/period.ts'
import { topDenials, topSpenders } from '../../src/domain/overview/rankings.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { chargeOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'

const hour = 3_600
const key = (credentialId: string) => ({ actor: { credentialId } })
const failure = (code: string) => ({ failure: { code } })

/** What the overview of a period reads, on every engine. */
export function overviewPeriodContract({ name, skip, open }: Engine): void {
  describe(`the overview of a period: ${name}`, { skip }, () => {
    it('tells failures from rate limits and from mistakes of callers, folded or not', async () => {
      await using database = await open()
      const { clock, append } = await openAuditLog(database)
      const stores = { traffic: trafficStore(database, clock), subjects: subjectSums(database, clock) }
      await append(3, failure('upstream_error'))
      clock.passMs(hour * 1000)
      await append(5)
      await append(2, failure('upstream_timeout'))
      await append(4, { ...key('key_1'), ...failure('rate_limit_exceeded') })
      await append(1, failure('model_not_found'))
      await append(1, { verdict: { decision: 'refuse', isEnforced: true } })
      await append(7, failure('upstream_error'), 'org_2')
      const to = toUnixSeconds(clock.nowMs()) + 1
      const period = { from: to - hour / 4, to }
      const shown = ({ requests, denied, failed, rateLimited, otherErrors }: Awaited<ReturnType<typeof readFigures>>) =>
        [requests, denied, failed, rateLimited, otherErrors] as const
      const read = async () => ({
        now: shown(await readFigures(stores, 'org_1', period)),
        before: shown(await readFigures(stores, 'org_1', periodBefore(period))),
        long: shown(await readFigures(stores, 'org_1', { from: to - 2 * hour, to })),
        steps: (await readSteps(stores, 'org_1', { from: to - 2 * hour, to, step: hour })).map(shown),
        none: shown(await readFigures(stores, 'org_1', { from: to - 9 * hour, to: to - 8 * hour })),
      })
      const expected = {
        now: [13, 1, 2, 4, 1],
        before: [0, 0, 0, 0, 0],
        long: [16, 1, 5, 4, 1],
        steps: [
          [3, 0, 3, 0, 0],
          [13, 1, 2, 4, 1],
        ],
        none: [0, 0, 0, 0, 0],
      }
      assert.deepEqual(await read(), expected)
      await foldStoredDeltas(database)
      assert.deepEqual(await read(), expected)
    })

    it('ranks policies by what they denied, and keys by what limits rejected', async () => {
      await using database = await open()
      const { clock, append } = await openAuditLog(database)
      const ids = createIds(clock, systemRandom)
      const count = (subject: string, denials: number, version = 1) => ({
        organizationId: 'org_1',
        subject,
        version,
        minute: Math.floor(clock.nowMs() / minuteMs),
        requests: 20,
        denials,
        recordedRequests: 3,
        recordedDenials: 3,
      })
      const minutes = [
        count('pol_1', 2),
        count('pol_1', 3, 2),
        count('pol_2', 9),
        count('pol_3', 0),
        count('gateway', 6),
      ]
      await decisionCounts(database, ids).add({ minutes, callers: [] })
      await append(30, { ...key('key_1'), ...failure('rate_limit_exceeded') })
      await append(30, key('key_1'))
      await append(30, key('key_2'))
      const subjects = subjectSums(database, clock)
      const policies = {
        list: async () => ({
          items: ['pol_1', 'pol_2', 'pol_3'].map((id) => ({ id, name: `Policy ${id}` }) as never),
          hasMore: false,
        }),
      }
      const gateway = { find: async () => undefined }
      const to = toUnixSeconds(clock.nowMs()) + 1
      const denials = await topDenials({ policies, gateway, subjects }, 'org_1', { from: to - hour, to })
      assert.deepEqual(
        denials.map(({ check, id, name: rule, figure, before }) => [check, id, rule, figure, before]),
        [
          ['policy', 'pol_2', 'Policy pol_2', 9, 0],
          ['gateway', 'default', null, 6, 0],
          ['policy', 'pol_1', 'Policy pol_1', 5, 0],
        ],
      )
      const use = {
        traffic: trafficStore(database, clock),
        subjects,
        limitsOf: () => ({ rpd: 30, tpd: 0 }),
        findKey: async (id: string) => ({ name: id }),
      }
      assert.deepEqual(await readKeyUse(use, 'org_1', clock.nowMs()), [
        { keyId: 'key_1', percent: 100, rejected: 30, name: 'key_1' },
        { keyId: 'key_2', percent: 100, rejected: 0, name: 'key_2' },
      ])
    })

    it('ranks projects and keys by what they spent, beside the period before', async () => {
      await using database = await open()
      const { clock } = await openAuditLog(database)
      const ids = createIds(clock, systemRandom)
      const ledger = ledgerStore(database, { ids, clock })
      const spend = (micro: number, projectId: string, keyId: string) =>
        ledger.settle({ ...chargeOf(ids('req'), micro, null), projectId, keyId, atMs: clock.nowMs() })
      await spend(4, 'proj_1', 'key_1')
      clock.passMs(hour * 1000)
      await spend(5, 'proj_1', 'key_1')
      await spend(7, 'proj_1', 'key_2')
      await spend(20, 'proj_2', 'key_3')
      const to = toUnixSeconds(clock.nowMs()) + 1
      const reports = ledgerReports(database, { clock, userDays: 30 })
      const read = () => topSpenders(reports, 'org_1', { from: to - hour + 120, to })
      const expected = {
        totalMicro: 32,
        totalBeforeMicro: 4,
        projects: [
          { id: 'proj_2', figure: 20, before: 0 },
          { id: 'proj_1', figure: 12, before: 4 },
        ],
        keys: [
          { id: 'key_3', figure: 20, before: 0 },
          { id: 'key_2', figure: 7, before: 0 },
          { id: 'key_1', figure: 5, before: 4 },
        ],
      }
      assert.deepEqual(await read(), expected)
      await foldStoredDeltas(database)
      assert.deepEqual(await read(), expected)
    })
  })
}
