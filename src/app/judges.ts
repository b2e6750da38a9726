import { budgetSlices } from '../adapters/stores/sql/judges/budget.ts'
import { judgeStore } from '../adapters/stores/sql/judges/judges.ts'
import { createSemaphore } from '../base/semaphore.ts'
import type { Rephrase } from '../domain/evaluation/verdict/rephrase.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import { createSharedBudget, type SharedBudget } from '../domain/judges/day-budget.ts'
import { fileJudgeId } from '../domain/judges/judge.ts'
import { judgeVersionOf } from '../domain/policy/judge-prompt.ts'
import type { RuleScore } from '../domain/policy/rule-score.ts'
import type { Judge, RuleJudge } from '../domain/policy/judge.ts'
import { createScanCache } from '../domain/scan/scan-cache.ts'
import type { CallModelParts } from '../pipeline/judge/call-model.ts'
import { judgeResults, type JudgeParts, type JudgeResult } from '../pipeline/judge/judge.ts'
import { createOrganizationJudges, type OrganizationJudges } from '../pipeline/judge/organization-judges.ts'
import { openFileJudge, type JudgeSettings } from './file-judge.ts'
import type { Infrastructure } from './infrastructure.ts'
import { openJudgeTally } from './judge-tally.ts'
import type { Stores } from './stores.ts'
import type { ServedModels } from './upstreams/models.ts'

export type OpenJudges = Omit<OrganizationJudges, 'shadowOf'> & {
  readonly fileJudge: RuleJudge | undefined
  /** The judge of the configuration without memory, for calibrations. */
  readonly openFile: ((hooks: Pick<JudgeParts, 'onSpent'>) => Judge) | undefined
  readonly rephrase: Rephrase | undefined
  /** Names what the judge of the configuration asks: its model and a digest of the prompt. */
  readonly fileSubject: string | undefined
}

type FileSettings = Pick<JudgeSettings, 'max_usd_per_day' | 'max_concurrent' | 'remembered_verdicts'>

/** Without `policies.judge`, these limit the judges of organizations that use models of the installation. */
const withoutFile: FileSettings = { max_usd_per_day: 10, max_concurrent: 8, remembered_verdicts: 10_000 }

/** The judge of the configuration, and those of organizations, until the app is closed. */
export function openJudges(infrastructure: Infrastructure, stores: Stores, served: ServedModels): OpenJudges {
  const { built, clock, random, ids, log, config, database } = infrastructure
  const settings = config.policies.judge
  const limits = settings ?? withoutFile
  const tally = openJudgeTally(infrastructure, stores)
  const slices = budgetSlices(database)
  const budgets = new Map<string, SharedBudget>()
  built.defer(async () => void (await Promise.all([...budgets.values()].map((each) => each[Symbol.asyncDispose]()))))
  const budgetNamed = (name: string, maxUsd: number): SharedBudget => {
    const key = `${name} ${maxUsd}` // versions of a judge spend the same budget, and may set it differently
    const budget = budgets.get(key) ?? createSharedBudget({ name, maxUsd, slices, clock })
    budgets.set(key, budget)
    return budget
  }
  const installationBudget = budgetNamed(fileJudgeId, limits.max_usd_per_day)
  const { onUsage, onResult } = countJudging(infrastructure, settings && installationBudget)
  const cache = createScanCache<RuleScore>(limits.remembered_verdicts)
  const calling = {
    // Separate from the health that requests use: a slow judge must not trip the circuit breaker of an upstream.
    health: createUpstreamHealth(clock),
    clock,
    random,
    ids,
    semaphore: createSemaphore(limits.max_concurrent),
    onUsage,
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code }, `the judge failed: ${fault.message}`),
  } satisfies Partial<CallModelParts>
  const file =
    settings && openFileJudge({ ...calling, settings, served, cache, tally, onResult, budget: installationBudget })
  const organizations = createOrganizationJudges({
    ...calling,
    readInForce: (organizationId) => judgeStore(stores.reading).inForce(organizationId),
    modelSetOf: served.modelSetOf,
    fileJudge: file && { ...file.judge, ask: file.askIn((id) => organizations.shadowOf(id)) },
    budgetOf: (version) => budgetNamed(version.judgeId, version.maxUsdPerDay),
    installationBudget,
    isOwnModel: isOwnModelOf(served),
    cache,
    tally,
    onResult,
  })
  const { judgeOf, openVersion } = organizations
  return {
    judgeOf,
    openVersion,
    fileJudge: file?.judge,
    openFile: file?.open,
    rephrase: file?.rephrase,
    fileSubject: settings && judgeVersionOf(settings.model),
  }
}

/** Whether the organization added the model and its upstreams. */
const isOwnModelOf =
  ({ modelSetOf, providers: installed }: ServedModels) =>
  async (organizationId: string, name: string): Promise<boolean> => {
    const { catalogue, providers } = await modelSetOf(organizationId)
    const model = catalogue.find(name)
    if (model?.organizationId === undefined) return false
    return model.targets.every(({ upstream }) => providers.get(upstream) !== installed.get(upstream))
  }

/** No organization pays for the judge, so its usage is counted in metrics. */
function countJudging({ metrics }: Infrastructure, fileBudget: SharedBudget | undefined) {
  const verdicts = metrics.counter('gatehouse_judge_verdicts_total', 'Calls to the judge, by result.', {
    result: judgeResults,
  })
  const tokens = metrics.counter('gatehouse_judge_tokens_total', 'Tokens that the judge used.', {
    kind: ['input', 'output'],
  })
  const cost = metrics.counter('gatehouse_judge_usd_total', 'Cost of the judge, by the prices of its model.', {})
  if (fileBudget)
    metrics.gauge('gatehouse_judge_spent_today_usd', 'Cost of the judge today, on this node.', fileBudget.spentTodayUsd)
  const onUsage: CallModelParts['onUsage'] = (usage, usd) => {
    tokens.add({ kind: 'input' }, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)
    tokens.add({ kind: 'output' }, usage.outputTokens)
    cost.add({}, usd)
  }
  return { onUsage, onResult: (result: JudgeResult): void => verdicts.add({ result }) }
}
