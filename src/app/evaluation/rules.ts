import { createBoundedCompiler } from '../../adapters/expressions/bounded.ts'
import { createExpressionThread } from '../../adapters/expressions/thread.ts'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { createSemaphore } from '../../base/semaphore.ts'
import { ConfigError, type Config } from '../../config/config.ts'
import type { Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import { createUpstreamHealth } from '../../domain/inference/health.ts'
import type { CompileRule } from '../../domain/policy/compiled-rule.ts'
import type { Judge } from '../../domain/policy/judge.ts'
import { createRuleCompiler } from '../../domain/policy/rule-compiler.ts'
import { createAskModel, type AskModelParts } from '../../pipeline/judge/ask-model.ts'
import { createDayBudget } from '../../pipeline/judge/day-budget.ts'
import { createJudge, judgeResults, type JudgeResult } from '../../pipeline/judge/judge.ts'
import { createRephrase } from '../../pipeline/judge/rephrase.ts'
import { openClassifier, type OpenClassifier } from './classifier.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { ServedModels } from '../models/models.ts'

export type Rules = OpenClassifier & {
  readonly compileRule: CompileRule
  /** Undefined where no judge is configured: what would be written anew is then refused. */
  readonly rephrase: Rephrase | undefined
  /** A rule that should have been judged and was not lets the text pass. */
  readonly failsOpen: boolean
}

type JudgeSettings = NonNullable<Config['policies']['judge']>

/** All that the configuration says about judging: who classifies, who judges rules, and who writes texts anew. */
export function createRules(ground: Infrastructure, served: ServedModels): Rules {
  const { built, clock, config } = ground
  const { judge: settings, expression_time_ms: limitMs } = config.policies
  const { judge, rephrase } = settings === undefined ? noJudge : openJudge(ground, served, settings)
  const thread = built.use(createExpressionThread({ clock, limitMs }))
  const compileExpression = createBoundedCompiler({ clock, thread })
  return {
    ...openClassifier(ground),
    compileRule: createRuleCompiler({ compileExpression, patterns: re2Patterns, judge }),
    rephrase,
    failsOpen: settings?.fail === 'open',
  }
}

type JudgeParts = { readonly judge: Judge | undefined; readonly rephrase: Rephrase | undefined }

const noJudge: JudgeParts = { judge: undefined, rephrase: undefined }

function openJudge(
  ground: Infrastructure,
  { catalogue, providers }: ServedModels,
  settings: JudgeSettings,
): JudgeParts {
  const { clock, random, ids, log } = ground
  const findModel = () => catalogue.find(settings.model)
  if (!findModel()) throw new ConfigError([`policies.judge.model: there is no model ${settings.model}`])
  const { onUsage, onVerdict, budget } = countJudging(ground, settings)
  const ask = createAskModel({
    providers,
    // Its own: that a judge was too slow is no reason to rest an upstream that callers use.
    health: createUpstreamHealth(clock),
    clock,
    random,
    ids,
    findModel,
    turns: createSemaphore(settings.max_concurrent),
    budget,
    onUsage,
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code }, `the judge failed: ${fault.message}`),
  })
  const { timeout_ms: timeoutMs, rephrase_timeout_ms, remembered_verdicts: memory } = settings
  return {
    judge: createJudge({ ask, random, timeoutMs, memory, onVerdict }),
    rephrase: createRephrase({ ask, random, timeoutMs: rephrase_timeout_ms }),
  }
}

/** Nobody's ledger pays for the judge, so its use is told here. */
function countJudging({ metrics, clock }: Infrastructure, settings: JudgeSettings) {
  const verdicts = metrics.counter('gatehouse_judge_verdicts_total', 'Questions to the judge, by how they ended.', {
    result: judgeResults,
  })
  const tokens = metrics.counter('gatehouse_judge_tokens_total', 'Tokens that the judge has read and written.', {
    kind: ['input', 'output'],
  })
  const cost = metrics.counter('gatehouse_judge_usd_total', 'What the judge has cost, by the prices of its model.', {})
  const budget = createDayBudget(clock, settings.max_usd_per_day)
  metrics.gauge('gatehouse_judge_spent_today_usd', 'What the judge has spent of its day.', budget.spentTodayUsd)
  const onUsage: AskModelParts['onUsage'] = (usage, usd) => {
    tokens.add({ kind: 'input' }, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)
    tokens.add({ kind: 'output' }, usage.outputTokens)
    cost.add({}, usd)
  }
  return { budget, onUsage, onVerdict: (result: JudgeResult): void => verdicts.add({ result }) }
}
