import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { lockDataFolder } from '../../../src/adapters/stores/sql/sqlite/data-folder.ts'

// Locks the folder, prints it, and runs until it is killed. It keeps no handle; the lock must hold without one.
const [dataDir = ''] = process.argv.slice(2)
lockDataFolder(dataDir)
setFlagsFromString('--expose-gc')
runInNewContext('gc')()
setImmediate(() => process.stdout.write('locked\n')) // after a garbage collection
setInterval(() => undefined, 1_000_000)
