import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/base/log.ts'
import { checkConfig } from '../../../src/config/config.ts'
import { operatorOf } from '../../support/operator.ts'

// An app whose model costs one credit for each token. It kills itself when it passes a failpoint for the nth time.
const [dataDir = '', upstreamUrl = '', redisUrl = '', failpoint = '', times = '1'] = process.argv.slice(2)

// Long, because test machines are busy and the app must not fall back for that.
const redis = redisUrl === '' ? {} : { redis_url: redisUrl, redis_timeout_ms: 10_000 }
const config = checkConfig({
  server: { port: 0 },
  storage: { data_dir: dataDir, ...redis },
  upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstreamUrl}/v1` }],
  models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
  // A slot in Redis outlives a killed process for a while, and the next requests would have to wait.
  limits: {
    tiers: { free: { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 100, project: 0, organization: 0 } } },
  },
})

let passed = 0
const app = await createApp(
  config,
  {},
  {
    log: createLog({ level: 'silent' }),
    failpoint(name) {
      if (name === failpoint && ++passed === Number(times)) process.kill(process.pid, 'SIGKILL')
    },
  },
)
const { api: url } = await app.listen()
const keys = await operatorOf(app)
  .setUp('Killed')
  .catch(() => undefined)
process.stdout.write(`${JSON.stringify({ url, keys })}\n`)
