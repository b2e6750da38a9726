import type { Random } from '../../base/random.ts'
import type { ModelSetOf } from '../../domain/inference/model-set.ts'
import type { CountedPolicy } from '../../domain/judges/counts.ts'
import { allBudgets, type DayBudget } from '../../domain/judges/day-budget.ts'
import { fileJudgeId, type JudgesInForce, type JudgeVersion, type VersionAt } from '../../domain/judges/judge.ts'
import type { JudgeTally } from '../../domain/judges/tally.ts'
import { promptOf } from '../../domain/judges/template.ts'
import type { RuleScore } from '../../domain/policy/rule-score.ts'
import type { Judge, JudgeRequest, RuleJudge } from '../../domain/policy/judge.ts'
import { createScanCache, type ScanCache } from '../../domain/scan/scan-cache.ts'
import { createCallModel, type CallModelParts } from './call-model.ts'
import { createJudge, type JudgeParts, type JudgeResult } from './judge.ts'
import { createShadow, type ShadowJudge } from './shadow.ts'

export type OrganizationJudgeParts = Omit<CallModelParts, 'findModel' | 'budget'> & {
  readonly readInForce: (organizationId: string) => Promise<JudgesInForce>
  readonly modelSetOf: ModelSetOf
  /** The judge of the configuration; undefined if there is none. */
  readonly fileJudge: RuleJudge | undefined
  /** The budget of a version, over all nodes. */
  readonly budgetOf: (version: JudgeVersion) => DayBudget
  /** The budget for models of the installation, which the installation pays for. */
  readonly installationBudget: DayBudget
  /** Whether the organization added the model, and so pays for it itself. */
  readonly isOwnModel: (organizationId: string, model: string) => Promise<boolean>
  readonly cache: ScanCache<RuleScore>
  readonly tally: JudgeTally
  readonly onResult: (result: JudgeResult) => void
  readonly random: Random
}

export type OrganizationJudges = {
  /** The judge in force. The same object until another version is in force. */
  readonly judgeOf: (organizationId: string) => Promise<RuleJudge | undefined>
  /** For questions that were answered by the judge of the configuration. */
  readonly shadowOf: (organizationId: string) => ShadowJudge | undefined
  /** A version without memory, for calibrations. */
  readonly openVersion: (version: JudgeVersion, hooks: Pick<JudgeParts, 'onSpent'>) => Judge
}

/** Names a version in audit events and in keys of caches. */
const versionName = ({ judgeId, version }: Pick<VersionAt, 'judgeId' | 'version'>): string =>
  judgeId === fileJudgeId ? fileJudgeId : `${judgeId}@${version}`

type InUse = { readonly name: string; readonly judge: RuleJudge | undefined; readonly shadow: ShadowJudge | undefined }

/** Organizations whose judge is kept; the one that was read first is forgotten. */
const maxKept = 10_000

/** The judges that organizations use, besides or in place of that of the configuration. */
export function createOrganizationJudges(parts: OrganizationJudgeParts): OrganizationJudges {
  const { tally, cache } = parts
  const inUse = new Map<string, InUse>()
  const memories = { live: cache, none: createScanCache<RuleScore>(0) }

  return {
    async judgeOf(organizationId) {
      const { active, shadow } = await parts.readInForce(organizationId)
      const name = [active, shadow].map((each) => each && `${versionName(each)} ${each.shareBasisPoints}`).join()
      const known = inUse.get(organizationId)
      if (known?.name === name) return known.judge
      const opened: InUse = {
        name,
        judge: active === undefined ? parts.fileJudge : ruleJudge(active),
        shadow: shadow && createShadow({ version: shadow, ask: openVersion(shadow, {}), tally }),
      }
      inUse.delete(organizationId)
      if (inUse.size >= maxKept) inUse.delete(inUse.keys().next().value ?? '')
      inUse.set(organizationId, opened)
      return opened.judge
    },
    shadowOf: (organizationId) => inUse.get(organizationId)?.shadow,
    openVersion,
  }

  function ruleJudge(version: JudgeVersion): RuleJudge {
    const { organizationId, judgeId, version: number } = version
    const of = (policyId: string): CountedPolicy => ({ organizationId, judgeId, version: number, policyId })
    return {
      version: versionName(version),
      failsOpen: version.fail === 'open',
      ask: createVersion(version, {
        cache: memories.live,
        onRemembered: ({ policyId }) => tally.count(of(policyId), { remembered: 1 }),
        onScore: (request, score) => inUse.get(organizationId)?.shadow?.compare(request, score),
      }),
      onSkipped: ({ policyId }) => tally.count(of(policyId), { skipped: 1 }),
    }
  }

  function openVersion(version: JudgeVersion, { onSpent }: Pick<JudgeParts, 'onSpent'>): Judge {
    return createVersion(version, { cache: memories.none, ...(onSpent && { onSpent }) })
  }

  function createVersion(version: JudgeVersion, hooks: VersionHooks): Judge {
    const { organizationId, model, template, parameters, timeoutMs } = version
    const budget = budgetFor(version)
    const callModel = createCallModel({
      ...parts,
      budget,
      async findModel() {
        const { catalogue, providers } = await parts.modelSetOf(organizationId)
        const found = catalogue.find(model)
        return found && found.isPaused !== true ? { model: found, providers } : undefined
      },
    })
    return createJudge({
      ...countingHooks(version, tally, hooks),
      callModel,
      random: parts.random,
      timeoutMs,
      promptOf: (input) => promptOf(template, input),
      name: versionName(version),
      cache: hooks.cache,
      temperature: parameters.temperature,
      maxOutputTokens: parameters.maxOutputTokens,
    })
  }

  /** The installation pays for its own models, so its budget limits them as well. */
  function budgetFor(version: JudgeVersion): DayBudget {
    const own = parts.budgetOf(version)
    const both = allBudgets([own, parts.installationBudget])
    return {
      async reserve(usd) {
        const isOwn = await parts.isOwnModel(version.organizationId, version.model)
        return (isOwn ? own : both).reserve(usd)
      },
    }
  }

  function countingHooks(version: VersionAt, counted: JudgeTally, hooks: VersionHooks) {
    return countQuestions(version, counted, {
      onResult: parts.onResult,
      onScore: hooks.onScore,
      onSpent: hooks.onSpent,
      onRemembered: hooks.onRemembered,
    })
  }
}

type VersionHooks = {
  readonly cache: ScanCache<RuleScore>
  readonly onRemembered?: (request: JudgeRequest) => void
  readonly onScore?: (request: JudgeRequest, score: RuleScore) => void
  readonly onSpent?: JudgeParts['onSpent']
}

type CountHooks = {
  readonly onResult: (result: JudgeResult) => void
  readonly onScore: VersionHooks['onScore'] | undefined
  readonly onSpent: VersionHooks['onSpent'] | undefined
  readonly onRemembered: VersionHooks['onRemembered'] | undefined
}

/** Counts what a judge is asked, what it costs, and how its scores of requests are spread. */
export function countQuestions(
  { judgeId, version }: Pick<VersionAt, 'judgeId' | 'version'>,
  tally: JudgeTally,
  hooks: CountHooks,
): Pick<JudgeParts, 'onResult' | 'onRemembered' | 'onSpent'> {
  const of = ({ organizationId, policyId }: JudgeRequest): CountedPolicy => ({
    organizationId,
    judgeId,
    version,
    policyId,
  })
  return {
    onResult(result, request, score) {
      hooks.onResult(result)
      tally.count(of(request), { asked: 1, ...(result !== 'judged' && { failed: 1 }) })
      if (request.requestId !== undefined && 'basisPoints' in score) tally.score(of(request), score.basisPoints)
      hooks.onScore?.(request, score)
    },
    onRemembered: (request) => hooks.onRemembered?.(request),
    onSpent(request, usd, answered) {
      tally.count(of(request), { usd })
      if (answered) tally.saw({ organizationId: request.organizationId, judgeId, version, ...answered })
      hooks.onSpent?.(request, usd, answered)
    },
  }
}
