import { re2Patterns } from '../../src/adapters/patterns/re2.ts'
import { createEvaluate, type Evaluate } from '../../src/domain/evaluation/evaluate.ts'
import { compileGateway } from '../../src/domain/evaluation/rulebooks.ts'
import type { Rulebook } from '../../src/domain/evaluation/rulebook.ts'
import {
  defaultConfiguration,
  unsaved,
  type GatewayConfiguration,
} from '../../src/domain/gateway-config/configuration.ts'
import type { Chunk, InferenceEnd, InferenceEvent, Usage } from '../../src/domain/inference/events.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Classifier } from '../../src/domain/scan/classify/classifier.ts'
import { createScanText } from '../../src/domain/scan/scan.ts'
import { prefilterOf } from './policy-prefilter.ts'

/** Flags self-harm if a text contains `poison`, and comes near the threshold at `pois`. */
export const poisonClassifier: Classifier = {
  identity: { id: 'test', version: '1', digest: '' },
  classify(text) {
    const score = text.includes('poison') ? 0.9 : text.includes('pois') ? 0.4 : 0.01
    return {
      scores: perCategory((category) => (category === 'self-harm' ? score : 0)),
      flagged: score >= 0.5 ? ['self-harm'] : [],
    }
  },
}

export const noPause = async (): Promise<void> => {}

export const evaluateWith = (classifier: Classifier): Evaluate =>
  createEvaluate({
    scanText: createScanText({ classifier, pause: noPause, cacheEntries: 0 }),
    pause: noPause,
    canRephrase: true,
    failsOpen: false,
    cacheEntries: 0,
    prefilterOf,
  })

export const evaluateWithoutCache = evaluateWith(poisonClassifier)

type Rules = Partial<GatewayConfiguration['rules']>
type Rollout = Partial<GatewayConfiguration['rollout']>

/** The rules of an organization without policies. */
export function rulebookWith(rules: Rules, rollout: Rollout = {}): Rulebook {
  const config: GatewayConfiguration = {
    ...defaultConfiguration,
    rules: { ...defaultConfiguration.rules, ...rules },
    rollout: { ...defaultConfiguration.rollout, ...rollout },
  }
  return {
    organizationId: 'org_1',
    gateway: compileGateway({ ...unsaved, config, version: 1 }, re2Patterns),
    policies: [],
  }
}

export const usageOf = (outputTokens: number): Usage => ({
  inputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens,
  reasoningTokens: 0,
  source: 'reported',
})

const end: InferenceEnd = { type: 'end', stopReason: 'end', usage: usageOf(5) }

/** A response of one text block, one chunk per text. */
export function responseOf(...texts: readonly string[]): readonly Chunk[] {
  return [
    { events: [{ type: 'start', model: 'm' }] },
    { events: [{ type: 'open', block: 0, part: { type: 'text' } }] },
    ...texts.map((text): Chunk => ({ events: [{ type: 'delta', block: 0, text }] })),
    { events: [{ type: 'close', block: 0 }, end] },
  ]
}

export async function* streamOf(chunks: readonly Chunk[], error?: Error): AsyncGenerator<Chunk, void> {
  yield* chunks
  if (error !== undefined) throw error
}

export const textIn = (events: readonly InferenceEvent[]): string =>
  events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
