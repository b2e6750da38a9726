import packageFile from '../../package.json' with { type: 'json' }
import { overrideStore } from '../adapters/stores/sql/credits/limit-overrides.ts'
import { dayMs } from '../base/clock.ts'
import type { Environment } from '../config/config.ts'
import { openAudit } from './audit.ts'
import { openBudgets } from './budgets.ts'
import { openCalibrations } from './calibrations.ts'
import { createDecodeBody } from './caller-formats.ts'
import {
  createAppealAddresses,
  openAppealExpiry,
  openDecisionPage,
  openDifferenceReviews,
  openReadDecision,
} from './appeals.ts'
import { createDecisions } from './decisions.ts'
import { openEvaluation } from './evaluation.ts'
import type { Identity } from './identity.ts'
import type { Infrastructure } from './infrastructure.ts'
import { holdMsOf, openPipeline } from './pipeline.ts'
import { createRequestMetrics } from './request-metrics.ts'
import { openReadTags } from './request-tags.ts'
import { createRules } from './rules.ts'
import { openStoredData } from './storage/stored-data.ts'
import type { Stores } from './stores.ts'
import { openTraces } from './traces.ts'
import { openModels } from './upstreams/models.ts'

type InferenceSources = Pick<Identity, 'freeRequests'> & { readonly env: Environment }

/** Everything that a request for a model passes: models, rules, limits, credits, the audit log. */
export async function openInference(
  infrastructure: Infrastructure,
  stores: Stores,
  { freeRequests, env }: InferenceSources,
) {
  const { built, config, clock, ids, metrics } = infrastructure
  const served = openModels(infrastructure, { stores, env })
  const { countEnded, countDecisions } = createRequestMetrics({ ...served, metrics })
  const rules = await createRules(infrastructure, stores, served)
  const addresses = createAppealAddresses(infrastructure)
  const { enforce, checkBeforeCounting, scanText, simulate, findEvidence, explain, isAuditRequired } = openEvaluation(
    infrastructure,
    stores,
    { ...rules, holdMs: holdMsOf(infrastructure, served), countDecisions, addressesOf: addresses?.addressesOf },
  )
  const decodeBody = createDecodeBody()
  openCalibrations(infrastructure, stores, { judges: rules.judges, simulate, decodeBody })
  const budgets = openBudgets(infrastructure, stores)
  const { counters, credits, run, ...counted } = await openPipeline(infrastructure, {
    freeRequests,
    overrides: overrideStore(stores.reading),
    budgets,
    enforce,
    checkBeforeCounting,
    scanText,
    served,
  })
  const audit = built.use(await openAudit(infrastructure, stores, { isAuditRequired }))
  const read = openReadDecision(infrastructure, stores, explain)
  openAppealExpiry(infrastructure, stores)
  openDifferenceReviews(infrastructure, stores)
  return {
    served,
    counters,
    credits,
    audit,
    judges: rules.judges,
    evaluation: { simulate, findEvidence, explain, inspectRule: rules.inspectRule, decodeBody },
    /** What the endpoints for applications need, besides who calls them. */
    endpoints: {
      ...counted,
      run: audit.record(run, countEnded),
      admission: credits.admission,
      readBalance: credits.readBalance,
      decisions: createDecisions(counters.limits, read),
      decisionPage: openDecisionPage(infrastructure, stores, { addresses, read }),
      creditUsd: config.credits.credit_usd,
      moderationModel: rules.model,
      modelSetOf: served.modelSetOf,
      stored: await openStoredData(infrastructure),
      retentionMs: config.responses.retention_days * dayMs,
      readTags: openReadTags(infrastructure),
      startTrace: await openTraces(infrastructure, packageFile.version),
      clock,
      ids,
    },
  }
}
