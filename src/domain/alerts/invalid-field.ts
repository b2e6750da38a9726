import { Fault } from '../../base/fault.ts'

export const invalidAlertField = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })
