import { moveToPostgres } from '../../../src/app/storage/move-to-postgres.ts'
import { checkConfig } from '../../../src/config/config.ts'

// Moves a data folder to PostgreSQL, and kills itself during one of the steps.
const [dataDir = '', url = '', killedIn = '', from = '0'] = process.argv.slice(2)

await moveToPostgres(checkConfig({ storage: { data_dir: dataDir } }), {
  url,
  file: undefined,
  onProgress(step, { done }) {
    if (step === killedIn && done >= Number(from)) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write('moved\n')
