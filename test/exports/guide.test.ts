import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { findSinkKind, sinkKinds } from '../../src/adapters/sinks/registry.ts'

const guide = readFileSync(new URL('../../docs/guide/exports.md', import.meta.url), 'utf8')
const [beforeKinds = '', kinds = ''] = guide.split('\n## Kinds\n')
const sections = new Map(kinds.split(/^### /m).map((section) => [/^`(\w+)`/.exec(section)?.[1], section]))

const fieldsOf = (schema: object): string[] =>
  Object.keys((schema as { properties: Readonly<Record<string, unknown>> }).properties)

describe('the guide to export sinks', () => {
  for (const { type, schema } of sinkKinds) {
    const section = sections.get(type) ?? ''

    it(`names every field of ${type}`, () => {
      const missing = fieldsOf(schema).filter((field) => !new RegExp(`[\`"]${field}[\`"]`).test(section + beforeKinds))
      assert.deepEqual(missing, [])
    })

    it(`has a valid example of ${type}`, () => {
      const { type: named, config } = JSON.parse(/```json\n(.*?)```/s.exec(section)?.[1] ?? '')
      assert.equal(named, type)
      assert.deepEqual(findSinkKind(type)?.problemsOf(config), [])
    })
  }
})
