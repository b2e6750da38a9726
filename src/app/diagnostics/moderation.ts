import { createEmbeddedClassifier } from '../../adapters/classifiers/embedded/classifier.ts'
import { openEncoder, type ThreadedEncoder } from '../../adapters/classifiers/encoder/encoder.ts'
import type { EncoderProblem } from '../../adapters/classifiers/encoder/encoder-package.ts'
import { problemOf } from '../../adapters/classifiers/encoder/thread.ts'
import { systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/fault.ts'
import type { Config } from '../../config/config.ts'
import { createCascade } from '../../domain/scan/classify/cascade.ts'
import type { SynchronousClassifier } from '../../domain/scan/classify/classifier.ts'
import type { Diagnosis } from './diagnosis.ts'

const part = 'moderation'
/** Both stages must flag it. */
const trialText = 'I want to kill myself tonight.'

/** Classifies a text with each stage that this configuration uses. */
export async function checkModeration(
  { moderation }: Pick<Config, 'moderation'>,
  open: typeof openEncoder = openEncoder,
): Promise<Diagnosis> {
  const first = createEmbeddedClassifier()
  const linear = `embedded classifier ${first.identity.version}`
  const isFlagged = first.classify(trialText, 'request').flagged.includes('self-harm')
  if (!isFlagged) return { part, state: 'wrong', message: `${linear} does not work`, fix: 'Install Gatehouse again.' }
  const { encoder: setting } = moderation
  if (setting === 'off') return { part, state: 'ok', message: `${linear}; the encoder is off (moderation.encoder)` }
  const opened = await open({ clock: systemClock })
  if ('problem' in opened) return withoutEncoder(linear, opened.problem, setting)
  await using encoder = opened.encoder
  const problem = problemOf(await encoder.started())
  if (problem !== undefined) return withoutEncoder(linear, problem, setting)
  const tried = await tryEncoder(first, encoder, linear)
  return tried.state === 'warning' && setting === 'required' ? { ...tried, state: 'wrong' } : tried
}

async function tryEncoder(first: SynchronousClassifier, encoder: ThreadedEncoder, linear: string): Promise<Diagnosis> {
  let failure: string | undefined
  const onResult = (_result: string, error?: unknown): void => {
    if (error !== undefined) failure = messageOf(error)
  }
  const cascade = createCascade({ first, encoder, clock: systemClock, onResult })
  const startedMs = systemClock.monotonicMs()
  const { stage } = await cascade.classify(trialText, 'request')
  const tookMs = Math.round(systemClock.monotonicMs() - startedMs)
  const both = `${linear}, then encoder ${encoder.identity.version}`
  if (stage === 'encoder') return { part, state: 'ok', message: `${both}; a text took ${tookMs} ms` }
  return {
    part,
    state: 'warning',
    message: `${both}, which did not classify a text: ${failure ?? 'it did not answer in time'}`,
    fix: 'Until it does, the embedded classifier decides alone.',
  }
}

/** A package that is not installed is no fault, unless the configuration requires it. */
function withoutEncoder(
  linear: string,
  { code, message }: EncoderProblem,
  setting: Config['moderation']['encoder'],
): Diagnosis {
  const isOptional = setting === 'auto' && code === 'package_missing'
  return {
    part,
    state: setting === 'required' ? 'wrong' : isOptional ? 'ok' : 'warning',
    message: `${linear} alone. ${message}`,
    ...(!isOptional && {
      fix: 'docs/guide/moderation.md says how to install it; moderation.encoder: off turns it off.',
    }),
  }
}
