import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createApp } from '../../src/app.ts'
import { ApiError } from '../../src/app/client/api-client.ts'
import { createLog } from '../../src/base/log.ts'
import { checkConfig } from '../../src/config/config.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('a server is ready only after the first start has created its keys', async () => {
  await using folder = await temporaryFolder()
  const settings = { storage: { data_dir: folder.path }, server: { port: 0 }, moderation: { encoder: 'off' } }
  await using app = await createApp(checkConfig(settings), {}, { log: createLog({ level: 'silent' }) })
  const readiness = () => app.client.get('/health/ready')
  const { api } = await app.listen(async () => {
    await assert.rejects(readiness(), (error) => error instanceof ApiError && error.status === 503)
    await app.client.post('/operator/setup', { name: 'First' })
  })
  assert.deepEqual(await readiness(), { status: 'ready' })
  assert.equal((await fetch(`${api}/health/ready`)).status, 200)
})
