import { engines } from '../support/engines.ts'
import { costsContract } from './costs.contract.ts'

for (const engine of engines) costsContract(engine)
