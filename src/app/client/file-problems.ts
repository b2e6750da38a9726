import { isFault, type Problem } from '../../base/fault.ts'
import { fieldName } from '../../http/validate.ts'

/** A mistake in a file: where it is, as a path of keys and positions, and what to do. */
export type FileProblem = { readonly path: readonly (string | number)[]; readonly message: string }

/** What is wrong with the work, as its fault says. */
export function problemsOf(work: () => void): FileProblem[] {
  try {
    work()
    return []
  } catch (error) {
    if (!isFault(error)) throw error
    const { problems, param = '' } = error.details
    return problems?.map(fileProblem) ?? [problemAt(param, error.message)]
  }
}

const fileProblem = ({ path, message }: Problem): FileProblem => ({ path, message: withField(path, message) })

const withField = (path: Problem['path'], message: string): string => {
  const field = fieldName(path)
  return field === '' ? message : `${field}: ${message}`
}

/** The problem that an error of the API describes: `param` is the name of its field, such as `project_ids[3]`. */
export const problemAt = (param: string, message: string): FileProblem => ({
  path: [...param.matchAll(/[^.[\]]+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step)),
  message: message.startsWith(`${param}:`) || param === '' ? message : `${param}: ${message}`,
})
