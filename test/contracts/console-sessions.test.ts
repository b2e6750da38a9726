import { engines } from '../support/engines.ts'
import { consoleSessionContract } from './console-sessions.contract.ts'

for (const engine of engines) consoleSessionContract(engine)
