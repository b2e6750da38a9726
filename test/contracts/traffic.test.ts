import { engines } from '../support/engines.ts'
import { trafficContract } from './traffic.contract.ts'

for (const engine of engines) trafficContract(engine)
