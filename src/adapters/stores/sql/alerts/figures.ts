import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { AlertFigures, FigurePeriod } from '../../../../domain/alerts/figures.ts'
import type { RuleFilter } from '../../../../domain/alerts/rule.ts'
import { failureSubject } from '../../../../domain/rollup/failures.ts'
import { day, type RollupDimension, type RollupKind } from '../../../../domain/rollup/kinds.ts'
import type { RollupGroup } from '../../../../domain/rollup/report.ts'
import type { Database, Transaction } from '../database.ts'
import { readRollup } from '../rollup/read.ts'

/** More keys than an organization has. Every user with a token counts as one. */
const mostKeys = 10_000

type Read = {
  readonly kind: RollupKind
  readonly period: FigurePeriod
  readonly groupBy?: readonly RollupDimension[]
  readonly subjects?: readonly string[]
  readonly limit?: number
}

/** The figures of alert rules from the sums, in SQL. */
export function alertFigures(database: Pick<Database, 'report'>, clock: Clock): AlertFigures {
  const query: Transaction['query'] = (sql, params) => database.report(sql, params)
  const read = (
    organizationId: string,
    { kind, period, groupBy = [], subjects, limit }: Read,
  ): Promise<RollupGroup[]> =>
    readRollup(
      query,
      {
        organizationId,
        kind,
        ...period,
        groupBy,
        bucket: day,
        ...(subjects && { subjects }),
        ...(limit !== undefined && { limit }),
      },
      toUnixSeconds(clock.nowMs()),
    )

  return {
    async spent(organizationId, period, filter) {
      const groups = await read(organizationId, { kind: 'usage', period, ...groupOf(filter) })
      return total(ofFilter(groups, filter), chargeSums.micro)
    },
    async requests(organizationId, period, filter) {
      if (filter?.name === 'policy_id') {
        const groups = await read(organizationId, {
          kind: 'policy',
          period,
          groupBy: ['subject'],
          subjects: [filter.id],
        })
        return {
          requests: total(groups, requestSums.requests),
          denials: total(groups, requestSums.denials),
          failures: 0,
        }
      }
      const kind = filter?.name === 'api_key_id' ? 'key' : 'traffic'
      const groups = ofFilter(await read(organizationId, { kind, period, ...groupOf(filter) }), filter)
      const subjects = [failureSubject(filter?.id)]
      const failed = await read(organizationId, { kind: 'policy', period, groupBy: ['subject'], subjects })
      return {
        requests: total(groups, requestSums.requests),
        denials: total(groups, requestSums.denials),
        failures: total(failed, requestSums.requests),
      }
    },
    async keys(organizationId, period) {
      const groups = await read(organizationId, { kind: 'key', period, groupBy: ['keyId'], limit: mostKeys })
      const byKey = Map.groupBy(groups, ({ group: [keyId] }) => String(keyId))
      return Array.from(byKey, ([keyId, ofKey]) => ({
        keyId,
        requests: total(ofKey, requestSums.requests),
        tokens: total(ofKey, requestSums.inputTokens) + total(ofKey, requestSums.outputTokens),
      }))
    },
  }
}

/** The positions of sums, in the order of their kinds. */
const requestSums = { requests: 0, denials: 1, inputTokens: 3, outputTokens: 4 }
const chargeSums = { micro: 5 }

const dimensionOf: Partial<Record<RuleFilter['name'], RollupDimension>> = {
  project_id: 'projectId',
  api_key_id: 'keyId',
}

function groupOf(filter: RuleFilter | null): { readonly groupBy?: readonly RollupDimension[] } {
  const dimension = filter && dimensionOf[filter.name]
  return dimension ? { groupBy: [dimension] } : {}
}

const ofFilter = (groups: readonly RollupGroup[], filter: RuleFilter | null): readonly RollupGroup[] =>
  filter === null ? groups : groups.filter(({ group: [id] }) => id === filter.id)

const total = (groups: readonly RollupGroup[], at: number): number =>
  groups.reduce((sum, { sums }) => sum + (sums[at] ?? 0), 0)
