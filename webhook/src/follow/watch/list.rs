//! Reads a whole list page by page, and trims each page as it comes.

use super::target::{Arriving, Target, kept, selection};
use crate::known::Entry;
use crate::lists::page;
use kube::{Client, Error};
use tokio::task::yield_now;

/// The number of objects on the first page. A page is in memory as the server wrote it, and the size of its objects is not known yet.
const FIRST_PAGE: u32 = 10;
/// The most objects of a page: as many as client-go asks for.
const LARGEST_PAGE: u32 = 500;
/// The bytes that the next page is to have, by the size of the page before.
const PAGE_BYTES: usize = 2 << 20;
/// The most listed objects that are trimmed in a row before the other work of this thread goes on.
const IN_A_ROW: usize = 10;

/// Reads every object that the target selects, page by page. Returns the objects as their store keeps them, and the version of the list.
pub(super) async fn list<T: Arriving>(
    client: &Client,
    target: &Target,
) -> Result<(Vec<Entry>, String), Error> {
    let selection = &selection(target);
    let mut objects = Vec::new();
    let mut read = page(client, selection, FIRST_PAGE, None).await?;
    loop {
        let (wanted, next) = (next_page(read.limit, read.len()), read.next.take());
        // The API server looks for the next page while this one is trimmed.
        let following = async {
            match next {
                Some(next) => page(client, selection, wanted, Some(next)).await.map(Some),
                None => Ok(None),
            }
        };
        let all = &mut objects;
        // This page is dropped as soon as it is trimmed: the next page may wait for its room.
        let trimmed = async move {
            for (number, object) in read.objects_as::<T>().enumerate() {
                all.push(kept(target, object?));
                if number % IN_A_ROW == 0 {
                    yield_now().await;
                }
            }
            Ok::<_, Error>(read.version)
        };
        let (following, version) = tokio::try_join!(biased; following, trimmed)?;
        match following {
            Some(following) => read = following,
            None => return Ok((objects, version)),
        }
    }
}

fn next_page(limit: u32, bytes: usize) -> u32 {
    let wanted = u64::from(limit) * PAGE_BYTES as u64 / bytes.max(1) as u64;
    let most = LARGEST_PAGE.min(limit * 4);
    u32::try_from(wanted).map_or(most, |wanted| wanted.clamp(1, most))
}
