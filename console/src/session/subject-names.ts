import { useKeyNames, useProjectNames, type Names } from '../api/names.ts'
import { useMay } from './session.tsx'

/** The names of what an exception can be for, as far as the reader may see them. */
export type SubjectNames = { readonly projects: Names; readonly keys: Names }

export const useSubjectNames = (): SubjectNames => ({
  projects: useProjectNames(useMay('projects:read')),
  keys: useKeyNames(useMay('keys:read')),
})
