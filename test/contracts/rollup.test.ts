import { engines } from '../support/engines.ts'
import { rollupContract } from './rollup.contract.ts'

for (const engine of engines) rollupContract(engine)
