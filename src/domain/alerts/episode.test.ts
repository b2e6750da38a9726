import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minuteMs } from '../../base/clock.ts'
import { stepOf, type EpisodeState, type EpisodeStep } from './episode.ts'

/** The steps of a subject, evaluated once a minute. */
function stepsOf(applies: readonly boolean[], forMinutes = 1): EpisodeStep[] {
  let state: EpisodeState | undefined
  return applies.map((each, minute) => {
    const nowMs = minute * minuteMs
    const step = stepOf(state, { applies: each, nowMs, forMs: forMinutes * minuteMs })
    if (step === 'begin_pending')
      state = { subject: '', state: 'pending', sinceMs: nowMs, clearSinceMs: null, alertId: null }
    if (step === 'forget' || step === 'resolve') state = undefined
    if (state && step === 'fire') state = { ...state, state: 'firing', alertId: 'alert_1' }
    if (state && step === 'begin_clearing') state = { ...state, clearSinceMs: nowMs }
    if (state && step === 'stop_clearing') state = { ...state, clearSinceMs: null }
    return step
  })
}

const repeated = (value: boolean, times: number): boolean[] => Array<boolean>(times).fill(value)

describe('an episode of an alert rule', () => {
  it('begins when the rule applies twice in a row, and is reported once', () => {
    assert.deepEqual(stepsOf([false, true, true, true, true]), ['none', 'begin_pending', 'fire', 'none', 'none'])
  })

  it('does not begin for what applies once', () => {
    assert.deepEqual(stepsOf([true, false, true, false]), ['begin_pending', 'forget', 'begin_pending', 'forget'])
  })

  it('begins only after as many minutes as the rule says', () => {
    assert.deepEqual(stepsOf(repeated(true, 5), 3), ['begin_pending', 'none', 'none', 'fire', 'none'])
  })

  it('is over when the rule did not apply for five minutes', () => {
    assert.deepEqual(stepsOf([true, true, ...repeated(false, 7)]).slice(2), [
      'begin_clearing',
      'none',
      'none',
      'none',
      'none',
      'resolve',
      'none',
    ])
  })

  it('goes on while the rule applies every few minutes', () => {
    const steps = stepsOf([true, true, false, false, true, false, false, true])
    assert.deepEqual(
      steps.filter((step) => step === 'fire' || step === 'resolve'),
      ['fire'],
    )
  })
})
