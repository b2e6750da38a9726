import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { systemClock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { createConfigurationAdministration } from './mutations.ts'
import { withDefaults, type GivenConfiguration } from './complete.ts'
import { defaultConfiguration, type SavedConfiguration } from './configuration.ts'
import type { GatewayStore } from './store.ts'
import { mostPatterns, mostTermCharacters } from './terms.ts'

/** Keeps one organization's configuration in memory. */
function createMemoryStore(): GatewayStore & { current?: SavedConfiguration } {
  const store: GatewayStore & { current?: SavedConfiguration } = {
    find: async () => store.current,
    async save(_organizationId, config, { version, nowMs }) {
      if (version !== (store.current?.version ?? 0)) return false
      const createdAtMs = store.current?.createdAtMs ?? nowMs
      store.current = { config, version: version + 1, isRolledBack: false, createdAtMs, updatedAtMs: nowMs }
      return true
    },
    async rollBack() {
      if (store.current) store.current = { ...store.current, isRolledBack: true }
      return true
    },
    hasVersion: async () => false,
    findVersion: async () => undefined,
    listVersions: async () => ({ items: [], hasMore: false }),
  }
  return store
}

function open() {
  const store = createMemoryStore()
  let ids = 0
  const configurations = createConfigurationAdministration({
    hasJudge: false,
    ids: (prefix) => `${prefix}_${++ids}`,
    clock: { ...systemClock, nowMs: () => 1_000 },
    patterns: re2Patterns,
  })
  const save = (given: GivenConfiguration, seenAtMs?: number | null) =>
    configurations.save(store, {
      organizationId: 'org_1',
      savedBy: 'adk_1',
      config: configurations.check(given),
      seenAtMs,
    })
  return { store, configurations, save }
}

const faultWith =
  (code: string, param: string) =>
  (error: unknown): boolean =>
    error instanceof Fault && error.code === code && (error.details.param ?? error.details.option) === param

describe('a configuration from a request', () => {
  it('is the default if it has no fields', () => {
    assert.deepEqual(withDefaults({}), defaultConfiguration)
  })

  it('keeps the fields that are set, and gets defaults for the others', () => {
    const given = { name: 'Main', rules: { redact: true }, org_controls: { user_quota: { requests: 5 } } }
    const { name, rules, org_controls: controls } = withDefaults(given)
    assert.equal(name, 'Main')
    assert.deepEqual(rules, { ...defaultConfiguration.rules, redact: true })
    assert.deepEqual(controls.user_quota, { requests: 5, tokens: 0, window: 'day' })
  })

  it('replaces aliases of windows, and removes duplicates', () => {
    const { org_controls: controls, rules } = withDefaults({
      org_controls: { user_quota: { window: 'monthly' }, project_quota: { window: 'week' } },
      rules: { denylist: ['rum', 'tea', 'rum'], flagged_categories: ['hate', 'hate'] },
    })
    assert.deepEqual([controls.user_quota.window, controls.project_quota.window], ['month', 'week'])
    assert.deepEqual([rules.denylist, rules.flagged_categories], [['rum', 'tea'], ['hate']])
  })

  it('has one normal form whatever the order of its fields, and normalising it again changes nothing', () => {
    const whole = withDefaults({ rules: { redact: true, denylist: ['rum'] }, name: 'Main' })
    const reordered = withDefaults({ name: 'Main', rules: { denylist: ['rum'], redact: true } })
    assert.equal(JSON.stringify(whole), JSON.stringify(reordered))
    assert.deepEqual(withDefaults(whole), whole)
  })

  it('is rejected if a term is invalid, and the error names the field as the caller sent it', () => {
    const { configurations } = open()
    const check = (terms: string[]) => () => configurations.check({ rules: { denylist: terms } })
    assert.throws(check(['a', 'a', 'b', '  ']), faultWith('invalid_parameter', 'rules.denylist[3]'))
    assert.throws(check(['/(/']), faultWith('invalid_parameter', 'rules.denylist[0]'))
    assert.throws(check(['/(?=a)a/']), faultWith('invalid_parameter', 'rules.denylist[0]'))
    assert.throws(
      () => configurations.check({ rules: { allowlist: ['/[/'] } }, 'config.'),
      faultWith('invalid_parameter', 'config.rules.allowlist[0]'),
    )
    assert.doesNotThrow(check(['/', '//', '/a/', '/a/i', 'x'.repeat(500)]))
  })

  it('has bounded lists of terms', () => {
    const { configurations } = open()
    const check = (denylist: string[]) => () => configurations.check({ rules: { denylist } })
    const long = Array.from({ length: 1_200 }, (_, at) => `${at}`.padEnd(500, 'x'))
    assert.doesNotThrow(check(long))
    assert.equal(long.join('').length, mostTermCharacters)
    assert.throws(check([...long, 'x']), faultWith('invalid_parameter', 'rules.denylist'))
    const patterns = Array.from({ length: mostPatterns + 1 }, (_, at) => `/a${at}/`)
    assert.doesNotThrow(check(patterns.slice(1)))
    assert.throws(check(patterns), faultWith('invalid_parameter', 'rules.denylist'))
    const slow = Array.from({ length: 9 }, (_, at) => `/a{1000}${at}/`)
    assert.doesNotThrow(check(slow))
    assert.throws(check([...slow, 'plain', '/b{1000}/']), faultWith('invalid_parameter', 'rules.denylist[10]'))
  })
})

describe('a save', () => {
  it('returns the next version, and its audit record names the changed fields without their values', async () => {
    const { save } = open()
    const first = await save({ name: 'Main', rules: { denylist: ['rum'] } })
    assert.deepEqual([first.value.version, first.value.createdAtMs, first.value.updatedAtMs], [1, 1_000, 1_000])
    assert.equal(first.record?.oldRevision, undefined)
    const second = await save({ name: 'Main', rules: { denylist: ['gin'] }, org_controls: { audit_logs: true } })
    assert.deepEqual([second.value.version, second.value.createdAtMs], [2, 1_000])
    const { kind, oldRevision, newRevision, details, document } = second.record ?? assert.fail()
    assert.deepEqual([kind, oldRevision, newRevision], ['gateway.config.updated', 1, 2])
    assert.deepEqual(details, { changed_fields: ['rules.denylist', 'org_controls.audit_logs'] })
    assert.equal(document?.digestBefore, first.record?.document?.digestAfter)
    assert.notEqual(document?.digestBefore, document?.digestAfter)
    assert.ok(!JSON.stringify(second.record).includes('gin'))
  })

  it('has a unique time, also within one millisecond', async () => {
    const { save } = open()
    const first = await save({ name: 'One' })
    const second = await save({ name: 'Two' })
    assert.ok(Number(second.value.updatedAtMs) > Number(first.value.updatedAtMs))
  })

  it('is rejected if another save was committed since the configuration was read', async () => {
    const { save } = open()
    const { value } = await save({ name: 'One' }, null)
    await save({ name: 'Two' }, value.updatedAtMs)
    await assert.rejects(
      save({ name: 'Three' }, value.updatedAtMs),
      faultWith('stale_configuration', 'expected_version'),
    )
    await assert.rejects(save({ name: 'Three' }, null), faultWith('stale_configuration', 'expected_version'))
  })

  it('is retried if another save was committed between its read and its write, and rejected if it names the version it has read', async () => {
    for (const [seenAtMs, finalName] of [
      [undefined, 'Late'],
      [null, 'Faster'],
    ] as const) {
      const { store, configurations, save } = open()
      let isFirst = true
      const racing: GatewayStore = {
        ...store,
        find: store.find,
        async save(...parameters) {
          if (isFirst) await save({ name: 'Faster' })
          isFirst = false
          return store.save(...parameters)
        },
      }
      const late = {
        organizationId: 'org_1',
        savedBy: 'adk_1',
        config: configurations.check({ name: 'Late' }),
        seenAtMs,
      }
      const saving = configurations.save(racing, late)
      if (seenAtMs === undefined) assert.equal((await saving).value.version, 2)
      else await assert.rejects(saving, faultWith('stale_configuration', 'expected_version'))
      assert.equal(store.current?.config.name, finalName)
    }
  })

  it('is rejected if the store rejects its write although no other save was committed', async () => {
    const { store, configurations } = open()
    const rejecting = { ...store, save: async () => false }
    const config = configurations.check({ name: 'Late' })
    await assert.rejects(
      configurations.save(rejecting, { organizationId: 'org_1', savedBy: 'adk_1', config }),
      faultWith('stale_configuration', 'expected_version'),
    )
  })

  it('of the same configuration changes nothing, unless it ends a rollback', async () => {
    const { store, save } = open()
    await save({ name: 'One' })
    const again = await save({ name: 'One' })
    assert.deepEqual([again.value.version, again.record], [1, undefined])
    await store.rollBack('org_1', 1)
    const back = await save({ name: 'One' })
    assert.deepEqual([back.value.version, back.value.isRolledBack], [2, false])
    assert.deepEqual(back.record?.details, { changed_fields: [] })
  })
})
