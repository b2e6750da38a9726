import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { lockDataFolder } from '../../../src/adapters/stores/sql/sqlite/data-folder.ts'

// Takes the folder, says so, and stays until it is killed. It keeps no handle: the lock must hold all the same.
const [dataDir = ''] = process.argv.slice(2)
lockDataFolder(dataDir)
setFlagsFromString('--expose-gc')
runInNewContext('gc')()
setImmediate(() => process.stdout.write('locked\n')) // after what the collector found was let go
setInterval(() => undefined, 1_000_000)
