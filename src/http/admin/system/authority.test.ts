import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shownDefinition } from './authority.ts'

describe('the definition of a model', () => {
  it('names the configuration file only to who may see the installation', () => {
    const definition = { source: 'file', file: '/etc/gatehouse/gatehouse.yaml', key: 'models[0]' } as const
    const fileFor = (kind: 'admin_key' | 'operator', isSystemVisible: boolean) =>
      shownDefinition(definition, { kind }, { isSystemVisible }).file
    assert.equal(fileFor('admin_key', true), definition.file)
    assert.equal(fileFor('admin_key', false), null)
    assert.equal(fileFor('operator', false), definition.file)
  })
})
