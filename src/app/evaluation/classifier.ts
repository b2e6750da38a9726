import { Agent } from 'undici'
import { createEmbeddedClassifier } from '../../adapters/classifiers/embedded/classifier.ts'
import { createOpenaiClassifier } from '../../adapters/classifiers/openai/classifier.ts'
import { createRequest } from '../../adapters/network/request.ts'
import { createSemaphore } from '../../base/semaphore.ts'
import { ConfigError } from '../../config/config.ts'
import { createUpstreamHealth } from '../../domain/inference/health.ts'
import type { Classifier } from '../../domain/moderation/classifier.ts'
import { createTieredClassifier } from '../../domain/moderation/tiered.ts'
import type { Infrastructure } from '../infrastructure.ts'

export type OpenClassifier = {
  readonly classifier: Classifier
  /** What the moderation endpoint says who judged. */
  readonly model: string
}

const ownModel = 'gatehouse-moderation-1'

/** The embedded classifier, and behind it the one of the configuration. */
export function openClassifier({ built, config, clock, metrics, log, live }: Infrastructure): OpenClassifier {
  const embedded = createEmbeddedClassifier()
  const { kind, base_url: baseUrl, api_key: apiKey, model, timeout_ms, max_concurrent } = config.moderation.classifier
  if (kind === 'embedded') return { classifier: embedded, model: ownModel }
  if (baseUrl === undefined) throw new ConfigError(['moderation.classifier.base_url is needed for this kind'])
  const agent = new Agent({ connect: { timeout: timeout_ms }, allowH2: false })
  built.defer(() => agent.destroy())
  const second = createOpenaiClassifier(
    { baseUrl, apiKey: () => live.read('moderation.classifier.api_key', apiKey), model, timeoutMs: timeout_ms },
    {
      request: createRequest(agent),
      clock,
      turns: createSemaphore(max_concurrent),
      health: createUpstreamHealth(clock),
    },
  )
  const calls = metrics.counter(
    'gatehouse_classifier_calls_total',
    'Texts that the second classifier was asked about.',
    {
      result: ['judged', 'failed'],
    },
  )
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
    log.warn({ error: String(error) }, 'the second classifier gave no answer')
  }
  return { classifier: createTieredClassifier({ first: embedded, second: counted, onFailure }), model }
}
