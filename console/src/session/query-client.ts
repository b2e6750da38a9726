import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isApiError, isSignedOutError } from '../api/error.ts'
import { reportSignedIn, reportSignedOut } from './signed-out.ts'

/** Errors of the caller are final; others are tried twice more. */
const retry = (failures: number, error: unknown): boolean =>
  failures < 2 && !(isApiError(error) && error.status >= 400 && error.status < 500)

export const queryClient = new QueryClient({
  // `continueSession` cancels the queries of before, so this one was sent after the last sign-in.
  queryCache: new QueryCache({
    onError(error) {
      if (isSignedOutError(error)) reportSignedOut(Date.now())
    },
  }),
  mutationCache: new MutationCache({
    onError(error, ...[_variables, _result, mutation]) {
      if (isSignedOutError(error)) reportSignedOut(mutation.state.submittedAt)
    },
  }),
  defaultOptions: {
    queries: { retry, staleTime: 5_000, refetchOnWindowFocus: true },
    // A change fails at once while the server is gone. It must not be sent later, when nobody expects it.
    mutations: { networkMode: 'always' },
  },
})

/** After a sign-in. Queries that were sent without it are cancelled, because a late 401 would ask to sign in again. */
export async function continueSession(): Promise<void> {
  await queryClient.cancelQueries()
  reportSignedIn()
  await queryClient.invalidateQueries()
}
