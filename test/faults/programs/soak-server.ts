import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/base/log.ts'
import { checkConfig } from '../../../src/config/config.ts'
import { operatorOf } from '../../support/operator.ts'

// A server with the built-in model that reports its idle memory on request. Started with --expose-gc.
const [dataDir = ''] = process.argv.slice(2)
const noLimit = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
const config = checkConfig({
  server: { port: 0 },
  storage: { data_dir: dataDir },
  limits: { tiers: { free: noLimit } },
  administration: {
    credential: { requests_per_minute: 1_000_000 },
    organization: { requests_per_minute: 1_000_000 },
  },
})
const server = await createApp(config, {}, { log: createLog({ level: 'silent' }) })
const { api: url } = await server.listen()
const keys = await operatorOf(server).setUp('Soaked')
process.send?.({ url, apiKey: keys.api_key, adminKey: keys.admin_key })

process.on('message', () => {
  for (let round = 0; round < 4; round++) globalThis.gc?.() // finalizers free more for the next round
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ bytes: heapUsed + external })
})
