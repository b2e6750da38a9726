import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

it('export removes its file of a kind that has no entries left, and no file that somebody else wrote', async () => {
  await using scene = await openAsCode()
  const yamlFiles = (): string[] =>
    readdirSync(scene.files)
      .filter((name) => name.endsWith('.yaml'))
      .toSorted()
  scene.write('admin_api_keys: [{ name: Pipeline, role: auditor }]')
  scene.write(`policies: [{ name: First, rule: 'Never mention "Falcon".' }]`, 'policies.yaml')
  await scene.apply()
  await scene.run('export', '-o', scene.files)
  assert.ok(yamlFiles().includes('policies.yaml'))
  const { data } = await scene.json('policies', 'list')
  assert.equal((await scene.run('policies', 'delete', data[0].id)).status, 0)

  scene.write('# Ours.\nexport_sinks: []\n', 'export_sinks.yaml')
  const { status, output } = await scene.run('export', '-o', scene.files)
  assert.equal(status, 0)
  assert.match(output, /Removed policies\.yaml of an earlier export, because nothing of this kind is left\./)
  assert.ok(!yamlFiles().includes('policies.yaml'))
  assert.ok(['all.yaml', 'export_sinks.yaml', 'projects.yaml'].every((name) => yamlFiles().includes(name)))
})
