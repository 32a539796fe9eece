//! A root in which everything is where it was, and the mounts are where they should be.
//!
//! Where a mount's path does not exist on the machine there is nothing to mount on, and nothing may be made there. So
//! the new root is an empty file system in memory, into which everything is bound: a folder on the way to a mount is
//! made anew with its entries bound one by one, any other as a whole.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
};

use nix::{
    mount::{MsFlags, mount},
    sys::statvfs::{FsFlags, statvfs},
    unistd::chroot,
};

use super::{Bind, EnterError, system};

/// Builds the root in an empty folder, and makes it this process's.
pub(super) fn build(root: &Path, binds: &[Bind]) -> Result<(), EnterError> {
    let none = None::<&str>;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(none, "/", none, private, none)
        .map_err(|errno| system("make private", Path::new("/"))(errno.into()))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), root, Some("tmpfs"), flags, Some("mode=755"))
        .map_err(|errno| system("mount", root)(errno.into()))?;
    let mut binds: Vec<Bind> = binds.iter().map(resolved).collect();
    binds.sort_by_key(|bind| bind.target.components().count());
    fill(root, Path::new("/"), &binds).map_err(system("fill", root))?;
    for bind in &binds {
        place(root, bind).map_err(system("mount", &bind.target))?;
    }
    chroot(root).map_err(|errno| system("change the root to", root)(errno.into()))
}

/// Links on the way to a target are those of the machine: followed now, they can't lead out of the new root later.
fn resolved(bind: &Bind) -> Bind {
    let mut ancestors = bind.target.ancestors();
    let existing = ancestors.find_map(|path| Some((path.canonicalize().ok()?, path)));
    let target = existing.and_then(|(real, path)| Some(join(&real, bind.target.strip_prefix(path).ok()?)));
    Bind {
        target: target.unwrap_or_else(|| bind.target.clone()),
        ..bind.clone()
    }
}

fn join(path: &Path, below: &Path) -> PathBuf {
    path.components().chain(below.components()).collect()
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    let normal = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    root.components().chain(normal).collect()
}

/// Binds the entries of a folder that is on the way to a target.
fn fill(root: &Path, folder: &Path, binds: &[Bind]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let copy = inside(root, &path);
        let is_target = binds.iter().any(|bind| bind.target == path);
        let is_on_the_way = binds.iter().any(|bind| bind.target.starts_with(&path));
        match () {
            () if is_target => {}
            () if kind.is_symlink() => symlink(fs::read_link(&path)?, &copy)?,
            () if kind.is_dir() && is_on_the_way => {
                fs::create_dir(&copy)?;
                fill(root, &path, binds)?;
            }
            () => bind_as_it_is(&path, &copy, kind.is_dir())?,
        }
    }
    Ok(())
}

/// What can't be bound (a dead mount, an entry that just vanished) isn't there for the command.
fn bind_as_it_is(path: &Path, copy: &Path, is_folder: bool) -> io::Result<()> {
    make_mount_point(copy, is_folder)?;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    let _ = mount(Some(path), copy, None::<&str>, flags, None::<&str>);
    Ok(())
}

fn place(root: &Path, bind: &Bind) -> io::Result<()> {
    let Bind {
        source,
        target,
        read_only,
    } = bind;
    let copy = inside(root, target);
    if let Some(parent) = copy.parent() {
        fs::create_dir_all(parent)?;
    }
    make_mount_point(&copy, fs::metadata(source)?.is_dir())?;
    let none = None::<&str>;
    mount(
        Some(source),
        &copy,
        none,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        none,
    )?;
    if *read_only {
        let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | kept_flags(&copy)?;
        mount(none, &copy, none, flags, none)?;
    }
    Ok(())
}

fn make_mount_point(path: &Path, is_folder: bool) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    if is_folder {
        fs::create_dir(path)
    } else {
        fs::File::create_new(path).map(drop)
    }
}

/// In a user namespace a mount may get stricter and never looser.
fn kept_flags(path: &Path) -> io::Result<MsFlags> {
    let present = statvfs(path)?.flags();
    let kept = [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
    ];
    Ok(kept
        .iter()
        .filter(|(flag, _)| present.contains(*flag))
        .map(|(_, flag)| *flag)
        .collect())
}
