import { Agent } from 'undici'
import { createEmbeddedClassifier } from '../adapters/classifiers/embedded/classifier.ts'
import type { ThreadedEncoder } from '../adapters/classifiers/encoder/encoder.ts'
import type { EncoderProblem } from '../adapters/classifiers/encoder/encoder-package.ts'
import { problemOf } from '../adapters/classifiers/encoder/thread.ts'
import { createOpenaiClassifier } from '../adapters/classifiers/openai/classifier.ts'
import { createRequest } from '../adapters/network/request.ts'
import { minuteMs } from '../base/clock.ts'
import { messageOf } from '../base/fault.ts'
import type { Metrics } from '../base/metrics.ts'
import { createSemaphore } from '../base/semaphore.ts'
import { ConfigError } from '../config/config.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import { createCascade } from '../domain/scan/classify/cascade.ts'
import { textDirections, type Classifier } from '../domain/scan/classify/classifier.ts'
import { encoderResults, type EncoderResult } from '../domain/scan/classify/encoder-calls.ts'
import { createTieredClassifier } from '../domain/scan/classify/tiered.ts'
import type { Infrastructure } from './infrastructure.ts'

export type OpenClassifier = {
  readonly classifier: Classifier
  /** The model name in responses of the moderation endpoint. */
  readonly model: string
}

const ownModel = 'gatehouse-moderation-1'

/** The embedded classifier with its encoder, and a moderation endpoint after it if one is configured. */
export async function openClassifier(infrastructure: Infrastructure): Promise<OpenClassifier> {
  const { config, metrics } = infrastructure
  const embedded = countTexts(await openEmbedded(infrastructure), metrics)
  return config.moderation.classifier.kind === 'embedded'
    ? { classifier: embedded, model: ownModel }
    : { classifier: openTiered(infrastructure, embedded), model: config.moderation.classifier.model }
}

/** The first stage alone if there is no encoder. */
async function openEmbedded(infrastructure: Infrastructure): Promise<Classifier> {
  const { config, clock, metrics, log } = infrastructure
  const first = createEmbeddedClassifier()
  const { encoder: setting } = config.moderation
  if (setting === 'off') return first
  const texts = metrics.counter('gatehouse_encoder_texts_total', 'Texts given to the encoder, by result.', {
    result: encoderResults,
  })
  for (const result of encoderResults) texts.add({ result }, 0)
  const encoder = await openEncoder(infrastructure)
  const problem = 'code' in encoder ? encoder : setting === 'required' ? problemOf(await encoder.started()) : undefined
  if (problem !== undefined) {
    if (setting === 'required') throw new ConfigError([`moderation.encoder: required, but ${problem.message}`])
    const level = problem.code === 'package_missing' ? 'debug' : 'warn'
    log[level]({ code: problem.code }, `the encoder is off: ${problem.message}`)
  }
  if ('code' in encoder) return first
  let quietUntilMs = 0
  const onResult = (result: EncoderResult, error: unknown): void => {
    texts.add({ result })
    if (result !== 'failed' || clock.monotonicMs() < quietUntilMs) return
    quietUntilMs = clock.monotonicMs() + minuteMs
    log.warn({ error: messageOf(error) }, 'the encoder failed; further failures within a minute are only counted')
  }
  const isOff = (): boolean => encoder.status().state === 'off'
  return createCascade({ first, encoder, clock, onResult, isOff })
}

async function openEncoder(infrastructure: Infrastructure): Promise<ThreadedEncoder | EncoderProblem> {
  const { built, config, clock, metrics, log } = infrastructure
  const seconds = metrics
    .histogram('gatehouse_encoder_seconds', 'Time that the thread of the encoder needed for a text.', {
      labels: {},
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    })
    .series({})
  const opened = await infrastructure.openEncoder({
    clock,
    cpuPercent: config.moderation.encoder_cpu_percent,
    onScored: (durationMs) => seconds(durationMs / 1_000),
    onStatus(status, cause) {
      if (status.state === 'ready') log.debug('the encoder is ready')
      if (status.state === 'restarting')
        log.warn({ error: cause }, 'the thread of the encoder has ended, and is started again')
      if (status.state === 'off')
        log.warn({ code: status.problem.code }, `the encoder is off: ${status.problem.message}`)
    },
  })
  if ('problem' in opened) return opened.problem
  const encoder = built.use(opened.encoder)
  metrics.gauge('gatehouse_encoder_queue', 'Texts that wait for the encoder, with the one it reads.', encoder.queued)
  metrics.gauge('gatehouse_encoder_ready', '1 if the encoder can read texts, 0 otherwise.', () =>
    encoder.status().state === 'ready' ? 1 : 0,
  )
  return encoder
}

function openTiered(infrastructure: Infrastructure, first: Classifier): Classifier {
  const { built, config, clock, metrics, log, live } = infrastructure
  const { base_url: baseUrl, api_key: apiKey, model, timeout_ms, max_concurrent } = config.moderation.classifier
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
  return createTieredClassifier({ first, second: counted, onFailure })
}

/** Counts the texts that the classifier reads. Those whose verdict is cached do not reach it. */
function countTexts(classifier: Classifier, metrics: Metrics): Classifier {
  const texts = metrics.counter('gatehouse_classified_texts_total', 'Texts that the embedded classifier has read.', {
    direction: textDirections,
  })
  const count = { request: texts.series({ direction: 'request' }), response: texts.series({ direction: 'response' }) }
  const { classify, startStream, classifyWhole } = classifier
  return {
    ...classifier,
    get identity() {
      return classifier.identity
    },
    classify(text, direction, reader) {
      count[direction]()
      return classify(text, direction, reader)
    },
    ...(startStream && { startStream: (direction, reader) => (count[direction](), startStream(direction, reader)) }),
    ...(classifyWhole && {
      classifyWhole(text, direction, reader) {
        const result = classifyWhole(text, direction, reader)
        // A text without a result is read by a stream, which counts it.
        if (result !== undefined) count[direction]()
        return result
      },
    }),
  }
}
