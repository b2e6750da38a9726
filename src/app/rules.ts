import { Agent } from 'undici'
import { createEmbeddedClassifier } from '../adapters/classifiers/embedded/classifier.ts'
import { createOpenaiClassifier } from '../adapters/classifiers/openai/classifier.ts'
import { createRequest } from '../adapters/network/request.ts'
import { textDirections, type Classifier } from '../domain/moderation/classifier.ts'
import { createTieredClassifier } from '../domain/moderation/tiered.ts'
import { createBoundedCompiler } from '../adapters/expressions/bounded.ts'
import { createCelChecker } from '../adapters/expressions/cel.ts'
import { createExpressionThread } from '../adapters/expressions/thread.ts'
import { re2Patterns } from '../adapters/expressions/re2.ts'
import type { Metrics } from '../base/metrics.ts'
import { createSemaphore } from '../base/semaphore.ts'
import { ConfigError, type Config } from '../config/config.ts'
import type { Rephrase } from '../domain/evaluation/verdict/rephrase.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import type { CompileRule } from '../domain/policy/compiled-rule.ts'
import type { Judge } from '../domain/policy/judge.ts'
import { createInspectRule, type InspectRule } from '../domain/policy/inspect-rule.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { createCallModel, type CallModelParts } from '../pipeline/judge/call-model.ts'
import { createDayBudget } from '../pipeline/judge/day-budget.ts'
import { createJudge, judgeResults, type JudgeResult } from '../pipeline/judge/judge.ts'
import { createRephrase } from '../pipeline/judge/rephrase.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ServedModels } from './models.ts'

export type Rules = OpenClassifier & {
  readonly compileRule: CompileRule
  readonly inspectRule: InspectRule
  /** Undefined if no judge is configured; a text that a rule would have rephrased is then rejected. */
  readonly rephrase: Rephrase | undefined
  /** A text passes if the judge did not answer for a rule. */
  readonly failsOpen: boolean
}

type JudgeSettings = NonNullable<Config['policies']['judge']>

/** The classifier, the compiler of rules, and the model that evaluates rules in plain language and rephrases texts. */
export function createRules(infrastructure: Infrastructure, served: ServedModels): Rules {
  const { built, clock, config } = infrastructure
  const { judge: settings, expression_time_ms: limitMs } = config.policies
  const { judge, rephrase } = settings === undefined ? noJudge : openJudge(infrastructure, served, settings)
  const thread = built.use(createExpressionThread({ clock, limitMs }))
  const compileExpression = createBoundedCompiler({ clock, thread })
  const compileRule = createRuleCompiler({ compileExpression, patterns: re2Patterns, judge })
  return {
    ...openClassifier(infrastructure),
    compileRule,
    inspectRule: createInspectRule({ checkExpression: createCelChecker(), compileRule }),
    rephrase,
    failsOpen: settings?.fail === 'open',
  }
}

type JudgeParts = { readonly judge: Judge | undefined; readonly rephrase: Rephrase | undefined }

const noJudge: JudgeParts = { judge: undefined, rephrase: undefined }

function openJudge(
  infrastructure: Infrastructure,
  { catalogue, providers }: ServedModels,
  settings: JudgeSettings,
): JudgeParts {
  const { clock, random, ids, log } = infrastructure
  const findModel = () => catalogue.find(settings.model)
  if (!findModel()) throw new ConfigError([`policies.judge.model: there is no model ${settings.model}`])
  const { onUsage, onResult, budget } = countJudging(infrastructure, settings)
  const callModel = createCallModel({
    providers,
    // Separate from the health that requests use: a slow judge must not trip the circuit breaker of an upstream.
    health: createUpstreamHealth(clock),
    clock,
    random,
    ids,
    findModel,
    semaphore: createSemaphore(settings.max_concurrent),
    budget,
    onUsage,
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code }, `the judge failed: ${fault.message}`),
  })
  const { timeout_ms: timeoutMs, rephrase_timeout_ms, remembered_verdicts: cacheEntries } = settings
  return {
    judge: createJudge({ callModel, random, timeoutMs, cacheEntries, onResult }),
    rephrase: createRephrase({ callModel, random, timeoutMs: rephrase_timeout_ms }),
  }
}

/** No organization pays for the judge, so its usage is counted in metrics. */
function countJudging({ metrics, clock }: Infrastructure, settings: JudgeSettings) {
  const verdicts = metrics.counter('gatehouse_judge_verdicts_total', 'Calls to the judge, by result.', {
    result: judgeResults,
  })
  const tokens = metrics.counter('gatehouse_judge_tokens_total', 'Tokens that the judge used.', {
    kind: ['input', 'output'],
  })
  const cost = metrics.counter('gatehouse_judge_usd_total', 'Cost of the judge, by the prices of its model.', {})
  const budget = createDayBudget(clock, settings.max_usd_per_day)
  metrics.gauge('gatehouse_judge_spent_today_usd', 'Cost of the judge today.', budget.spentTodayUsd)
  const onUsage: CallModelParts['onUsage'] = (usage, usd) => {
    tokens.add({ kind: 'input' }, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)
    tokens.add({ kind: 'output' }, usage.outputTokens)
    cost.add({}, usd)
  }
  return { budget, onUsage, onResult: (result: JudgeResult): void => verdicts.add({ result }) }
}

type OpenClassifier = {
  readonly classifier: Classifier
  /** The model name in responses of the moderation endpoint. */
  readonly model: string
}

const ownModel = 'gatehouse-moderation-1'

/** The embedded classifier, and a second one after it if one is configured. */
function openClassifier({ built, config, clock, metrics, log, live }: Infrastructure): OpenClassifier {
  const embedded = countTexts(createEmbeddedClassifier(), metrics)
  const { kind, base_url: baseUrl, api_key: apiKey, model, timeout_ms, max_concurrent } = config.moderation.classifier
  if (kind === 'embedded') return { classifier: embedded, model: ownModel }
  if (baseUrl === undefined)
    throw new ConfigError(['moderation.classifier.base_url is required for this kind of classifier'])
  const agent = new Agent({ connect: { timeout: timeout_ms }, allowH2: false })
  built.defer(() => agent.destroy())
  const second = createOpenaiClassifier(
    { baseUrl, apiKey: () => live.read('moderation.classifier.api_key', apiKey), model, timeoutMs: timeout_ms },
    {
      request: createRequest(agent),
      clock,
      semaphore: createSemaphore(max_concurrent),
      health: createUpstreamHealth(clock),
    },
  )
  const calls = metrics.counter('gatehouse_classifier_calls_total', 'Texts sent to the second classifier.', {
    result: ['judged', 'failed'],
  })
  const counted: Classifier = {
    identity: second.identity,
    async classify(text, direction) {
      const classification = await second.classify(text, direction)
      calls.add({ result: 'judged' })
      return classification
    },
  }
  const onFailure = (error: unknown): void => {
    calls.add({ result: 'failed' })
    log.warn({ error: String(error) }, 'the second classifier failed')
  }
  return { classifier: createTieredClassifier({ first: embedded, second: counted, onFailure }), model }
}

/** Counts the texts that the classifier reads. Those whose verdict is cached do not reach it. */
function countTexts(classifier: Classifier, metrics: Metrics): Classifier {
  const texts = metrics.counter('gatehouse_classified_texts_total', 'Texts that the embedded classifier has read.', {
    direction: textDirections,
  })
  const count = { request: texts.series({ direction: 'request' }), response: texts.series({ direction: 'response' }) }
  const { classify, startStream } = classifier
  return {
    ...classifier,
    classify(text, direction) {
      count[direction]()
      return classify(text, direction)
    },
    ...(startStream && { startStream: (direction) => (count[direction](), startStream(direction)) }),
  }
}
