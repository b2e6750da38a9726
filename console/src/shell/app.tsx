import { RouterProvider } from '@tanstack/react-router'
import { FailureState } from '../kit/state.tsx'
import { useEffect } from 'react'
import { isSignedOutError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { router } from './router.tsx'
import { readPreferences, setPreferences } from '../session/preferences.ts'
import { MeProvider, useMeQuery } from '../session/session.tsx'
import { SignInDialog, SignInPage } from './sign-in.tsx'
import { useSignedOut } from '../session/signed-out.ts'

/**
 * Signed out: the sign-in page. Signed in: the pages, and a dialog over them if the session ends meanwhile. The frame of the pages is
 * shown before the server has answered.
 */
export function App({ linkError }: { readonly linkError: string | undefined }) {
  const me = useMeQuery()
  const isSignedOut = useSignedOut()
  const isUnknown = me.data === undefined
  const isRejected = isUnknown && isSignedOutError(me.error)
  useEffect(() => {
    if (!isUnknown) setPreferences({ wasSignedIn: true })
    else if (isRejected) setPreferences({ wasSignedIn: false })
  }, [isUnknown, isRejected])
  if (isRejected) return <SignInPage linkError={linkError} />
  if (isUnknown && me.isError)
    return <FailureState title={words.signIn.unavailable} error={me.error} onRetry={() => void me.refetch()} />
  // A browser that was never signed in probably gets the page to sign in, and must not show the frame before it.
  if (isUnknown && !readPreferences().wasSignedIn) return null
  return (
    <MeProvider me={me.data}>
      <RouterProvider router={router} />
      {!isUnknown && isSignedOut && <SignInDialog />}
    </MeProvider>
  )
}
