//! The file system forgets what it should forget, and nothing else. Called with `serve FOLDER`, this program serves it.

use rustix::fs::{FallocateFlags, fallocate};
use sensormark_power::{Lost, PowerFolder, own_mounts, serve};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, folder] = arguments.as_slice()
        && word == "serve"
    {
        serve(Path::new(folder)).expect("serving");
        return ExitCode::SUCCESS;
    }
    if let Err(why) = own_mounts() {
        println!("test the_file_system_forgets ... ignored, {why}");
        return ExitCode::SUCCESS;
    }
    let outside = tempfile::tempdir().expect("a folder");
    let mut serves = Command::new(std::env::current_exe().expect("this program"));
    let mut power =
        PowerFolder::make(outside.path(), serves.arg("serve").arg(outside.path())).expect("a mount");
    files_are_what_they_were_at_their_last_flush(&mut power).expect("files");
    println!("test files_are_what_they_were_at_their_last_flush ... ok");
    names_owners_and_sizes_are_those_of_any_folder(power.path()).expect("a folder");
    println!("test names_owners_and_sizes_are_those_of_any_folder ... ok");
    let place = power.path().to_owned();
    drop(power);
    assert!(!place.join("before").exists(), "it is still mounted");
    println!("test it_goes_with_its_owner ... ok");
    ExitCode::SUCCESS
}

fn write(path: &Path, data: &[u8], flush: bool) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(data)?;
    if flush { file.sync_data() } else { Ok(()) }
}

fn files_are_what_they_were_at_their_last_flush(power: &mut PowerFolder) -> io::Result<()> {
    let at = power.path().to_owned();
    let over = |name: &str, data: &[u8], offset| {
        OpenOptions::new().write(true).open(at.join(name))?.write_all_at(data, offset)
    };
    write(&at.join("before"), &[b'a'; 10_000], false)?;
    assert_eq!(power.cut()?, Lost::default(), "nothing is lost before the first keep");
    power.keep()?;
    over("before", &[b'b'; 100], 5_000)?;
    write(&at.join("new"), &[b'x'; 5_000], false)?;
    write(&at.join("flushed"), &[b'x'; 5_000], true)?;
    let each = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(rustix::fs::OFlags::DSYNC.bits().cast_signed())
        .open(at.join("each"))?;
    each.write_all_at(&[b'y'; 100], 0)?;
    write(&at.join("shorter"), &[b'k'; 9_000], true)?;
    OpenOptions::new().write(true).open(at.join("shorter"))?.set_len(10)?;
    over("shorter", &[b'm'; 9_000], 0)?;
    write(&at.join("longer"), &[b'l'; 10], true)?;
    fallocate(OpenOptions::new().write(true).open(at.join("longer"))?, FallocateFlags::empty(), 0, 8_192)?;
    write(&at.join("old-name"), b"new", true)?;
    std::fs::rename(at.join("old-name"), at.join("new-name"))?;
    over("new-name", b"lost", 0)?;
    let lost = power.cut()?;
    assert_eq!(lost, Lost { files: 5, bytes: 4_096 + 5_000 + (9_000) + (8_192 - 10) + 3 + 1 });
    let is = |name: &str, data: &[u8]| {
        let found = std::fs::read(at.join(name)).unwrap();
        assert!(found == data, "{name} is not what it should be after a cut");
    };
    is("before", &[b'a'; 10_000]);
    is("new", b"");
    is("flushed", &[b'x'; 5_000]);
    is("each", &[b'y'; 100]);
    is("shorter", &[b'k'; 9_000]);
    is("longer", &[b'l'; 10]);
    is("new-name", b"new");
    assert_eq!(power.cut()?, Lost::default(), "what was lost once is not lost again");
    Ok(())
}

fn names_owners_and_sizes_are_those_of_any_folder(at: &Path) -> io::Result<()> {
    std::fs::create_dir(at.join("folder"))?;
    for number in 0..300 {
        write(&at.join(format!("folder/{number}")), b"1", false)?;
    }
    assert_eq!(std::fs::read_dir(at.join("folder"))?.count(), 300);
    std::os::unix::fs::symlink("folder/7", at.join("short-cut"))?;
    std::fs::hard_link(at.join("folder/8"), at.join("second"))?;
    assert_eq!(std::fs::read_link(at.join("short-cut"))?, Path::new("folder/7"));
    assert_eq!(std::fs::read(at.join("short-cut"))?, b"1");
    let (one, other) = (at.join("folder/8").metadata()?, at.join("second").metadata()?);
    assert_eq!((one.ino(), one.nlink(), one.len()), (other.ino(), 2, 1));
    assert_eq!(one.uid(), rustix::process::geteuid().as_raw());
    std::fs::remove_file(at.join("folder/8"))?;
    assert_eq!(std::fs::read(at.join("second"))?, b"1", "an open or second name keeps a file");
    let held = File::open(at.join("second"))?;
    std::fs::remove_file(at.join("second"))?;
    let mut last = [0];
    held.read_exact_at(&mut last, 0)?;
    std::fs::remove_dir_all(at.join("folder"))?;
    assert!(std::fs::remove_file(at.join("folder/9")).is_err());
    Ok(())
}
