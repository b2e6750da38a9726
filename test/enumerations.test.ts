import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { kindFacts } from '../src/adapters/providers/registry.ts'
import { sinkKinds } from '../src/adapters/sinks/registry.ts'
import { ConfigSchema } from '../src/config/schema.ts'
import { contentLevels } from '../src/domain/audit/event/content.ts'
import { sinkTypes } from '../src/domain/audit/export/sink.ts'
import { apiKeyPermissions } from '../src/domain/identity/permissions.ts'
import { operationNames } from '../src/domain/inference/operations.ts'
import { rejectedScopes } from '../src/domain/limits/admission.ts'
import { tiers } from '../src/domain/limits/tiers.ts'
import { upstreamKinds } from '../src/wire/upstream-kinds.ts'

const { audit, keys, limits, models } = ConfigSchema.properties

/** `src/config` imports no module but `wire`, so it repeats these lists. */
const repeated: readonly (readonly [key: string, inConfig: readonly string[], inModule: readonly string[]])[] = [
  ['audit.content', audit.properties.content.enum, contentLevels],
  ['keys.default_permissions', keys.properties.default_permissions.items.enum, apiKeyPermissions],
  ['limits.count_refused', limits.properties.count_refused.enum, Object.keys(rejectedScopes)],
  ['models.operations', models.items.properties.operations.items.enum, operationNames],
  ['limits.tiers', Object.keys(limits.properties.tiers.properties), tiers],
]

describe('lists of values', () => {
  for (const [key, inConfig, inModule] of repeated)
    it(`are the same in the configuration key ${key} and in the module that owns them`, () =>
      assert.deepEqual([...inConfig].toSorted(), [...inModule].toSorted()))

  it('have a row for every kind of upstream in the guide, with its address', () => {
    const guide = readFileSync(join(import.meta.dirname, '../docs/guide/your-own-model.md'), 'utf8')
    for (const kind of upstreamKinds) {
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`)) ?? ''
      assert.ok(row.includes(kindFacts(kind).baseUrl ?? '| |'), `${kind}: ${row}`)
    }
  })

  it('have a sink for every type, under its own type', () =>
    assert.deepEqual(
      sinkKinds.map(({ type }) => type),
      sinkTypes,
    ))
})
