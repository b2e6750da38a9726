import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultGate, gateLevels, gateWith, tightened, type GateSettings, type OwnGateSettings } from './settings.ts'

describe('the gate of a policy', () => {
  it('takes what is stricter, and ignores what is not', () => {
    const organization = gateWith(defaultGate, { replay: { level: 'require', newly_blocked_bp: 100 } })
    const own: OwnGateSettings = {
      cases: { level: 'off' },
      replay: { level: 'warn', newly_blocked_bp: 20, newly_allowed_bp: 10, min_events: 10 },
      shadow: { level: 'require', hours: 48, max_match_bp: 5_000 },
      approvals: { level: 'require', count: 2 },
      judge: { level: 'off', days: 10 },
    }
    assert.deepEqual(tightened(organization, own), {
      cases: { level: 'require' },
      replay: { ...organization.replay, newly_blocked_bp: 20, newly_allowed_bp: 10 },
      shadow: { ...organization.shadow, level: 'require', hours: 48 },
      approvals: { level: 'require', count: 2 },
      judge: { level: 'warn', days: 10 },
    })
  })

  it('is never looser than that of the organization, for any settings', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = generator(seed)
    for (let round = 0; round < 500; round += 1) {
      const [organization, own] = [anySettings(random), anySettings(random)]
      const strict = tightened(organization, own)
      assert.ok(isAtLeastAsStrict(strict, organization), `seed ${seed}, round ${round}`)
      assert.deepEqual(tightened(strict, own), strict)
    }
  })
})

function isAtLeastAsStrict(a: GateSettings, b: GateSettings): boolean {
  const isLower = (x: number | null, y: number | null): boolean => (x ?? Infinity) <= (y ?? Infinity)
  return [
    ...(['cases', 'replay', 'shadow', 'approvals', 'judge'] as const).map(
      (section) => gateLevels.indexOf(a[section].level) >= gateLevels.indexOf(b[section].level),
    ),
    ...(['newly_blocked_bp', 'newly_allowed_bp', 'not_evaluated_bp'] as const).map((limit) =>
      isLower(a.replay[limit], b.replay[limit]),
    ),
    a.replay.min_events >= b.replay.min_events,
    a.shadow.hours >= b.shadow.hours,
    a.shadow.min_requests >= b.shadow.min_requests,
    a.shadow.max_match_bp <= b.shadow.max_match_bp,
    a.approvals.count >= b.approvals.count,
    a.judge.days <= b.judge.days,
  ].every(Boolean)
}

function anySettings(random: () => number): GateSettings {
  const upTo = (most: number): number => Math.floor(random() * most)
  const level = () => gateLevels[upTo(3)] ?? 'off'
  const limit = () => (random() < 0.3 ? null : upTo(10_001))
  return {
    cases: { level: level() },
    replay: {
      level: level(),
      newly_blocked_bp: limit(),
      newly_allowed_bp: limit(),
      not_evaluated_bp: limit(),
      days: 1 + upTo(90),
      min_events: 1 + upTo(1_000),
      max_events: 1 + upTo(1_000),
    },
    shadow: { level: level(), hours: 1 + upTo(720), min_requests: 1 + upTo(1_000), max_match_bp: upTo(10_001) },
    approvals: { level: level(), count: 1 + upTo(10) },
    judge: { level: level(), days: 1 + upTo(365) },
  }
}

/** A linear congruential generator. */
const generator = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
