import { setImmediate } from 'node:timers/promises'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { quotaStore } from '../../adapters/stores/sql/gateway-config/quotas.ts'
import { createEvaluate } from '../../domain/evaluation/findings/evaluate.ts'
import { createRulebooks } from '../../domain/evaluation/rules/rulebooks.ts'
import { createSimulate } from '../../domain/evaluation/simulate.ts'
import { createQuotaReservations } from '../../domain/gateway-config/quotas.ts'
import { createIncrementalScan } from '../../domain/moderation/incremental-scan.ts'
import { createScanText } from '../../domain/moderation/scan.ts'
import { createEnforce } from '../../pipeline/enforcement/enforce.ts'
import { createCheckBeforeCounting } from '../../pipeline/enforcement/check-before-counting.ts'
import type { Administration } from '../administration.ts'
import { openBacktests } from './backtests.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Rules } from './rules.ts'
import { openSpikeMonitor } from './watch.ts'

/** Blocks of text whose verdicts are remembered: some hundred long chats. */
const remembered = 20_000

/** `holdMs`: how long what a request has reserved is kept for it at the most. */
type GovernanceParts = Rules & { readonly holdMs: number }

/** All that looks at what is said: the classifier, the rules of each organization, and the road's own checks. */
export function openEvaluation(
  ground: Infrastructure,
  { reads, administer }: Pick<Administration, 'reads' | 'administer'>,
  { classifier, compileRule, rephrase, failsOpen, holdMs }: GovernanceParts,
) {
  const { config, clock, ids, changes, database, warn } = ground
  const pause = (): Promise<void> => setImmediate()
  const shared = { pause, canRephrase: rephrase !== undefined, failsOpen }
  const screen = createScanText({ classifier, pause, memory: remembered })
  const examine = createEvaluate({ ...shared, screen, memory: remembered })
  const glance = createEvaluate({
    ...shared,
    screen: createScanText({ classifier, pause, memory: 0 }),
    memory: 0,
    wantsDenialsOnly: true,
  })
  const rulebookOf = createRulebooks({
    gateway: reads.gateway,
    policies: reads.policies,
    changes,
    compileRule,
    patterns: re2Patterns,
  })
  const watch = openSpikeMonitor(ground, { reads, administer })
  openBacktests(ground, { examine: glance, compileRule })
  const govern = createEnforce({
    rulebookOf,
    hasPolicy: async (organizationId, id) => (await reads.policies.find(organizationId, id)) !== undefined,
    examine,
    glance,
    readAlong: createIncrementalScan(classifier),
    rephrase,
    quotas: createQuotaReservations({
      store: quotaStore(database),
      clock,
      ids,
      holdMs,
      onSettleFailed: warn('a quota could not be settled'),
    }),
    clock,
    ids,
    crisisMessage: config.moderation.crisis_message,
    restores: config.moderation.restore_redacted,
    pause,
    note: (organizationId, outcomes) => watch.note({ organizationId, outcomes }),
  })
  return {
    govern,
    sendable: createCheckBeforeCounting({ examine, rulebookOf, hasJudge: rephrase !== undefined }),
    screen,
    simulate: createSimulate({ examine, rulebookOf, patterns: re2Patterns }),
    isAuditRequired: (organizationId: string): MaybePromise<boolean> =>
      andThen(rulebookOf(organizationId), ({ gateway }) => gateway.config.org_controls.audit_logs),
  }
}
