import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { ExportBody } from '../../src/http/policy-gateway/exports/schema.ts'
import { openAsCode } from '../support/as-code.ts'

type Scene = Awaited<ReturnType<typeof openAsCode>>

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

async function createSink({ app }: Scene, label: string, url: string): Promise<string> {
  const body = { label, type: 'webhook', enabled: false, config: { url, secret } }
  return (await app.app.client.post<{ export: ExportBody }>('/api/policy-gateway/exports', body)).export.id
}

it('a reference in the address of a sink that somebody created over the API is never replaced by its value', async () => {
  await using scene = await openAsCode()
  scene.env['OPERATOR_PASSWORD'] = 'correct-horse'
  const id = await createSink(scene, 'Mine', 'http://127.0.0.1:9/${OPERATOR_PASSWORD}')
  assert.equal((await scene.run('export', '-o', scene.files)).status, 0)
  assert.equal((await scene.plan()).status, 0)

  await scene.run('sinks', 'delete', id)
  scene.env[`GATEHOUSE_${id.toUpperCase()}_SECRET`] = secret
  const plan = await scene.plan()
  assert.match(plan.output, /\+ config\.url: http:\/\/127\.0\.0\.1:9\/\$\{OPERATOR_PASSWORD\}$/m)
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  const { data } = await scene.json('sinks', 'list')
  assert.equal(data[0].config.url, 'http://127.0.0.1:9/${OPERATOR_PASSWORD}')
  for (const text of [plan.output, applied.output, JSON.stringify(data)]) assert.ok(!text.includes('correct-horse'))
})

it('export names the variable of a secret after the id of the sink, because tenants choose labels', async () => {
  await using scene = await openAsCode()
  const id = await createSink(scene, 'Github', 'http://127.0.0.1:9/hook')
  await scene.run('export', '-o', scene.files)
  const text = readFileSync(join(scene.files, 'export_sinks.yaml'), 'utf8')
  const variable = `GATEHOUSE_${id.toUpperCase()}_SECRET`
  assert.match(text, new RegExp(`secret: \\$\\{${variable}\\}`))
  assert.doesNotMatch(text, /GITHUB/)
})

it('a sink of daily costs is planned, applied and exported like any other setting', async () => {
  await using scene = await openAsCode()
  scene.env['BUCKET_SECRET'] = 'the-secret-of-the-bucket'
  const write = (filter: string): void =>
    scene.write(`export_sinks:
  - type: s3
    label: Finance
    enabled: false
    config:
      sends: costs
      bucket: costs
      region: here
      endpoint: http://127.0.0.1:9
      auth: { type: access_key, access_key_id: AKIAEXAMPLE, secret_access_key: "\${BUCKET_SECRET}" }
${filter}`)
  write('      filter: { decisions: [refuse] }\n')
  const rejected = await scene.plan()
  assert.notEqual(rejected.status, 0)
  assert.match(rejected.output + rejected.errors, /config\.filter: belongs to sends events/)
  write('')
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.output + applied.errors)
  assert.match(applied.output, /config\.sends: costs/)
  assert.equal((await scene.plan()).status, 0)
  const { data } = await scene.json('sinks', 'list')
  assert.equal(data[0].config.sends, 'costs')
  assert.match((await scene.run('sinks', 'show', data[0].id)).output, /^disabled, costs of 0 days written$/m)
  await scene.run('export', '-o', join(scene.path, 'exported'))
  assert.match(readFileSync(join(scene.path, 'exported', 'export_sinks.yaml'), 'utf8'), /sends: costs/)
})
