// One node on a shared database, in its own process. Prints its address once it listens; runs until it is killed.
import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/base/log.ts'
import { checkConfig } from '../../../src/config/config.ts'

const [configuration = '{}'] = process.argv.slice(2)
const app = await createApp(checkConfig(JSON.parse(configuration)), {}, { log: createLog({ level: 'silent' }) })
process.stdout.write(`${(await app.listen()).api}\n`)
