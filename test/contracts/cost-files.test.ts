import { engines } from '../support/engines.ts'
import { costFilesContract } from './cost-files.contract.ts'

for (const engine of engines) costFilesContract(engine)
