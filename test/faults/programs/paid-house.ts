import { createHouse } from '../../../src/app.ts'
import { createLog } from '../../../src/base/log.ts'
import { checkConfig } from '../../../src/config.ts'

// A house whose model costs one credit for each token. It kills itself when it comes by a failpoint for the nth time.
const [dataDir = '', upstreamUrl = '', failpoint = '', times = '1'] = process.argv.slice(2)

const config = checkConfig({
  server: { port: 0 },
  storage: { data_dir: dataDir },
  upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstreamUrl}/v1` }],
  models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
  limits: { tiers: { free: { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 4, project: 0, organization: 0 } } } },
})

let passed = 0
const house = await createHouse(
  config,
  {},
  {
    log: createLog({ level: 'silent' }),
    failpoint(name) {
      if (name === failpoint && ++passed === Number(times)) process.kill(process.pid, 'SIGKILL')
    },
  },
)
const url = await house.listen()
const keys = await house.operations.setup({ name: 'Killed' }).catch(() => undefined)
process.stdout.write(`${JSON.stringify({ url, keys })}\n`)
